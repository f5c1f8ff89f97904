/** Shows files in the desktop's own program for them. */
import open from "open";

/** Whether a file is shown without being asked for: by a person's terminal, on a machine that has a display. */
export function isShown(
  terminal: boolean,
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): boolean {
  // Over ssh the display, if there is one, is not the one that the person looks at; in CI nobody does.
  if (!terminal || env["SSH_CONNECTION"] !== undefined || env["CI"] !== undefined) return false;
  if (platform === "darwin" || platform === "win32") return true;
  return Boolean(env["DISPLAY"] ?? env["WAYLAND_DISPLAY"]);
}

/** How long the desktop has to say that it has no program for a file. A program that stays open is not waited for. */
const answerMs = 1_000;

/** Asks the desktop to show a file; gives the reason where it does not. */
export async function show(path: string): Promise<string | undefined> {
  try {
    const child = await open(path);
    return await new Promise((resolve) => {
      const end = (code: number | null): void => {
        clearTimeout(timer);
        resolve(code === 0 || code === null ? undefined : `its opener ended with ${code}`);
      };
      const timer = setTimeout(end, answerMs, null);
      child.once("exit", end);
      if (child.exitCode !== null) end(child.exitCode);
    });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
