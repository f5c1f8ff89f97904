/**
 * Shows highlighted code. The highlighter returns a tree that is rendered as elements, so that no text becomes markup.
 */
import type { ElementContent, RootContent } from "hast";
import bash from "highlight.js/lib/languages/bash";
import python from "highlight.js/lib/languages/python";
import typescript from "highlight.js/lib/languages/typescript";
import { createLowlight } from "lowlight";
import type { ComponentChildren } from "preact";

const lowlight = createLowlight({ bash, python, typescript });

function shown(node: ElementContent | RootContent, key: number): ComponentChildren {
  if (node.type === "text") return node.value;
  if (node.type !== "element") return null;
  const { className } = node.properties;
  return (
    <span key={key} class={Array.isArray(className) ? className.join(" ") : ""}>
      {node.children.map(shown)}
    </span>
  );
}

export function Highlighted({
  code,
  language,
}: {
  readonly code: string;
  readonly language: "bash" | "python" | "typescript";
}) {
  return (
    <pre tabIndex={0}>
      <code>{lowlight.highlight(language, code).children.map(shown)}</code>
    </pre>
  );
}
