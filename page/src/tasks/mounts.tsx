/**
 * Table of the libraries and servers of environments that `gradus serve --mount` can add, with their measured
 * properties.
 */
import {
  mountEntries,
  type MountEntry,
  mountExceptions,
  mountHead,
  mountRow,
} from "../../../server/outside/mounted/mount-table.ts";
import { Panel } from "../ui/parts.tsx";
import { Table } from "../ui/table.tsx";

/** Columns that are shown as code, because a person types their content. */
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
