/** Gallery of environments, each with a picture of one of its tasks. */
import { Goal, Split } from "../../../clients/ts/src/public.ts";
import type { Environment } from "../../../clients/ts/src/public.ts";
import { address, named, refine } from "../address.ts";
import { useAnswer } from "../answers.ts";
import { mayNot, roleAtLeast } from "../caller.ts";
import { Answered, Heading, NotForRole, Search, Select, Tag } from "../ui/parts.tsx";
import { useSeen } from "../ui/sight.ts";
import { counted } from "../words.ts";
import { taskHref } from "./choice.ts";
import { Mounts } from "./mounts.tsx";
import { TaskPicture } from "./picture.tsx";

export const goalWords: Readonly<Record<Goal, string>> = {
  [Goal.UNSPECIFIED]: "",
  [Goal.SATISFY]: "right or wrong",
  [Goal.MINIMIZE]: "minimise",
  [Goal.MAXIMIZE]: "maximise",
};

export function Gallery() {
  const { query } = address.value;
  const answer = useAnswer((gradus, options) => gradus.listEnvironments({}, options), []);
  return (
    <>
      <Heading
        title="Tasks"
        note="What this server asks of a model: see a task as the model sees it, try an answer, and learn what it is worth."
      />
      <Answered answer={answer}>
        {(environments) => <Shown environments={newest(environments)} query={query} />}
      </Answered>
      <Mounts />
    </>
  );
}

/** Returns only the newest version of each environment, which comes first in the server's list. */
function newest(environments: readonly Environment[]): readonly Environment[] {
  return environments.filter(({ id }, at) => environments.findIndex((other) => other.id === id) === at);
}

const splits = [
  { value: "", text: "any" },
  { value: "train", text: "train" },
  { value: "eval", text: "eval" },
  { value: "bench", text: "bench" },
] as const;

const splitOf: Readonly<Record<string, Split>> = { train: Split.TRAIN, eval: Split.EVAL, bench: Split.BENCH };

function Shown({
  environments,
  query,
}: {
  readonly environments: readonly Environment[];
  readonly query: Readonly<Record<string, string>>;
}) {
  const categories = [...new Set(environments.map(({ category }) => category))];
  const levels = [...new Set(environments.flatMap((one) => one.levels.map(({ name }) => name)))];
  const { category = "", level = "", split = "", q = "" } = query;
  const shown = environments.filter(
    (one) =>
      (category === "" || one.category === category) &&
      (level === "" || one.levels.some(({ name }) => name === level)) &&
      hasSplit(one, level, named(splitOf, split)) &&
      `${one.id} ${one.description}`.toLowerCase().includes(q.toLowerCase()),
  );
  const options = (names: readonly string[]) => ["", ...names].map((name) => ({ value: name, text: name || "any" }));
  return (
    <>
      <div class="toolbar" role="search">
        <Search label="Search" value={q} onType={(text) => refine({ q: text })} />
        <Select
          label="Category"
          value={category}
          options={options(categories)}
          onChoose={(value) => refine({ category: value })}
        />
        <Select label="Level" value={level} options={options(levels)} onChoose={(value) => refine({ level: value })} />
        <Select label="Split" value={split} options={splits} onChoose={(value) => refine({ split: value })} />
        <p class="note" role="status">
          {counted(shown.length, "environment")}
        </p>
      </div>
      {mayNot("trainer") && <NotForRole role="trainer" what="Tasks, and their pictures, are" />}
      <ul class="gallery">
        {shown.map((environment) => (
          <Card key={environment.id} environment={environment} level={level} split={split} />
        ))}
      </ul>
    </>
  );
}

/**
 * Returns whether an environment has tasks of a level in a split. A generator makes instances of every split, rows are
 * in fixed splits, and a level may be for evaluation only.
 */
function hasSplit({ pools, levels, parameters }: Environment, level: string, split: Split | undefined): boolean {
  if (split === undefined) return true;
  const considered = levels.filter(({ name }) => level === "" || name === level);
  if (split === Split.TRAIN && considered.every(({ evaluationOnly }) => evaluationOnly)) return false;
  if (parameters.length > 0) return true;
  return pools.some(({ groups }) =>
    groups.some((group) => group.split === split && (level === "" || group.level === level)),
  );
}

function Card({
  environment,
  level,
  split,
}: {
  readonly environment: Environment;
  readonly level: string;
  readonly split: string;
}) {
  const { id, description, levels, goal } = environment;
  const { place, seen } = useSeen<HTMLAnchorElement>();
  return (
    <li>
      <a class="card" href={taskHref(id, { level, split })} ref={place}>
        {!mayNot("trainer") && (
          <div class="thumbnail">
            {seen && roleAtLeast("trainer") && (
              <TaskPicture
                task={{ environment: id, level: level || undefined, split: asSplit(split), seed: 0n }}
                decorative
              />
            )}
          </div>
        )}
        <div class="card-words">
          <h2>{id}</h2>
          <p>{description}</p>
          <p class="tags">
            <Tag tone="best">{goalWords[goal]}</Tag>
            {levels.map(({ name }) => (
              <Tag key={name}>{name}</Tag>
            ))}
          </p>
        </div>
      </a>
    </li>
  );
}

function asSplit(name: string): "train" | "eval" | "bench" | undefined {
  return name === "train" || name === "eval" || name === "bench" ? name : undefined;
}
