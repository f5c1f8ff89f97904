/** Draws a graph in the colours of an answer, so that a person sees which neighbours share a colour. */
import type { Picture, Shape } from "../../envs/picture.ts";
import { adjacent, type Graph, pairs } from "../../envs/lib/graph.ts";
import { drawPlain, edgeShapes, type Pair, PLAIN_VERTEX, type VertexLook, vertexShapes } from "../lib/graph.ts";
import { cutTo } from "../lib/frame.ts";
import { circleRadius, onCircle, VERTEX_RADIUS } from "../lib/layout.ts";
import { legendOf, noteOf, notesOf, type Point } from "../lib/picture.ts";
import { fillClass, onFill, text } from "../lib/svg.ts";
import { type Coloring, isStandIn } from "../../envs/np/coloring/verify.ts";

/** Vertices that have the same colour, or none. */
interface Group {
  readonly colour: number | undefined;
  readonly vertices: readonly number[];
}

export function draw(graph: Graph, coloring?: Coloring, best?: Coloring): Picture {
  const edges = [...pairs(graph.vertices)].filter(([a, b]) => adjacent(graph, a, b));
  if (coloring === undefined) return drawPlain(graph, edges);
  const groups = groupsOf(graph, coloring);
  const circle = circled(graph.vertices, groups);
  const isClash = ([a, b]: Pair): boolean => coloring[a] !== undefined && coloring[a] === coloring[b];
  const [clashes, proper] = [edges.filter(isClash), edges.filter((edge) => !isClash(edge))];
  const clashing = new Set(clashes.flat());
  const orderOf = new Map(groups.map(({ colour }, i) => [colour, i]));
  const looks = (v: number): VertexLook => lookOf(orderOf, coloring[v], clashing.has(v));
  const uncoloured = coloring.length < graph.vertices;
  return {
    width: circle.side,
    height: circle.side,
    shapes: [
      ...edgeShapes(proper, circle.points, "gd-edge"),
      ...edgeShapes(clashes, circle.points, "gd-wrong"),
      ...vertexShapes(circle.points, looks),
      ...circle.labels,
    ],
    legend: legendOf(
      [proper.length > 0, "line", "gd-edge", "edge"],
      [clashes.length > 0, "line", "gd-wrong", "edge between vertices of one color"],
      [uncoloured, "dot", "gd-missing", "vertex without a color"],
    ),
    notes: notesOf(
      noteOf("Colors of vertices that do not exist", coloring.slice(graph.vertices).map(nameOf)),
      best && `A best coloring: ${classesText(best)}`,
    ),
  };
}

/** Groups vertices by colour, in the order of the colours' numbers. Vertices without a colour come last. */
function groupsOf(graph: Graph, coloring: Coloring): readonly Group[] {
  const vertices = Array.from({ length: graph.vertices }, (_, v) => v);
  const byColour = Map.groupBy(vertices, (v) => coloring[v]);
  return [...byColour]
    .map(([colour, members]) => ({ colour, vertices: members }))
    .sort((one, other) => (one.colour ?? Infinity) - (other.colour ?? Infinity));
}

/**
 * Places the vertices on a circle. Vertices of one colour are side by side, with a gap before the next colour. Each
 * colour gets a label.
 */
function circled(vertices: number, groups: readonly Group[]) {
  const places = vertices + groups.length;
  const radius = circleRadius(places, 170);
  const side = 2 * (radius + VERTEX_RADIUS + 50);
  const centre = { x: side / 2, y: side / 2 };
  const points: Point[] = [];
  const labels: Shape[] = [];
  let place = 0;
  for (const group of groups) {
    const [around, taken] = [radius + VERTEX_RADIUS + 26, group.vertices.length + 1];
    const middle = onCircle(centre, around, (place + (taken - 2) / 2) / places);
    const room = Math.min(LABEL_WIDTH, (2 * Math.PI * around * taken) / places - GAP);
    labels.push(text(middle.x, middle.y, "gd-mid", groupWords(group, room)));
    for (const vertex of group.vertices) points[vertex] = onCircle(centre, radius, place++ / places);
    place++;
  }
  return { points, labels, side };
}

/** Maximum width of a colour's label, in pixels, so that it does not run into vertices or out of the picture. */
const LABEL_WIDTH = 60;
/** Minimum space between two labels, in pixels. */
const GAP = 6;
/** Width of a letter of a label, in pixels. */
const LETTER = 7.2;

/** Returns the label of a colour, shortened to the available width. */
function groupWords({ colour }: Group, room: number): string {
  if (colour === undefined) return "none";
  if (isStandIn(colour)) return "long";
  const most = Math.floor(room / LETTER);
  const full = `color ${colour}`;
  return full.length <= most ? full : cutTo(`${colour}`, most);
}

function nameOf(colour: number): number | string {
  return isStandIn(colour) ? "a long one" : colour;
}

function lookOf(
  orderOf: ReadonlyMap<number | undefined, number>,
  colour: number | undefined,
  clashes: boolean,
): VertexLook {
  if (colour === undefined) return { ...PLAIN_VERTEX, ring: "gd-missing" };
  const order = orderOf.get(colour) ?? 0;
  return { disc: fillClass(order), label: onFill(order), ring: clashes ? "gd-ring" : undefined };
}

/** Lists the vertices of each colour, such as "0 3 | 1 2". */
function classesText(coloring: Coloring): string {
  const classes = Map.groupBy(coloring.keys(), (v) => coloring[v]);
  return [...classes.values()].map((members) => members.join(" ")).join(" | ");
}
