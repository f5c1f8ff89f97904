/** Opens files in the desktop's default program for their type. */
import open from "open";

/**
 * Returns whether to open a file if the user gave neither --open nor --no-open: at a terminal, on a machine with a
 * display.
 */
export function isShown(
  terminal: boolean,
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): boolean {
  // Open nothing over ssh, where the display is not in front of the user, or in CI, where there is no user.
  if (!terminal || env["SSH_CONNECTION"] !== undefined || env["CI"] !== undefined) return false;
  if (platform === "darwin" || platform === "win32") return true;
  return Boolean(env["DISPLAY"] ?? env["WAYLAND_DISPLAY"]);
}

/**
 * Time in milliseconds to wait for the desktop's report that it has no program for a file. If no report comes, the
 * command goes on.
 */
const answerMs = 1_000;

/** Opens a file on the desktop. Returns the reason if that fails, else undefined. */
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
