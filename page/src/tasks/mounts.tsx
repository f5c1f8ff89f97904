/** Table of what a server can mount with `--mount`: libraries and servers of environments, as they were measured. */
import {
  mountEntries,
  type MountEntry,
  mountExceptions,
  mountHead,
  mountRow,
} from "../../../server/outside/mounted/mount-table.ts";
import { Panel } from "../ui/parts.tsx";
import { Table } from "../ui/table.tsx";

/** Columns that hold what a person types. */
const TYPED: ReadonlySet<string> = new Set(["mount", "install"]);

export function Mounts() {
  const exceptions = mountExceptions(mountEntries);
  return (
    <Panel
      wide
      title="More environments to mount"
      note={
        <>
          A server started with <code>gradus serve --mount NAME</code> has these as well. Equal scores: 20 answers to a
          task of each level, held against the library's own scorer.
        </>
      }
    >
      <Table label="Mounts" columns={mountHead} words={mountHead.length}>
        {mountEntries.map((entry) => (
          <Row key={entry.mount} entry={entry} />
        ))}
      </Table>
      {exceptions.length > 0 && (
        <details>
          <summary>Levels without equal scores</summary>
          <ul>
            {exceptions.map((words) => (
              <li key={words}>{words}</li>
            ))}
          </ul>
        </details>
      )}
    </Panel>
  );
}

function Row({ entry }: { readonly entry: MountEntry }) {
  return (
    <tr>
      {mountRow(entry).map((cell, at) => {
        const name = mountHead[at] ?? "";
        const shown = TYPED.has(name) ? <code>{cell}</code> : cell;
        if (at === 0)
          return (
            <th key={name} scope="row">
              {shown}
            </th>
          );
        return (
          <td key={name} class="words">
            {shown}
          </td>
        );
      })}
    </tr>
  );
}
