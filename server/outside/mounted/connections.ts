/** The socket that a host's workers connect to. */
import { createServer, type Server, type Socket } from "node:net";

/**
 * Answers that come one by one while so many more are to come are read together, a moment later: to be woken for each costs
 * more than all else. The last few are not waited for, for then the worker has nothing more to do.
 */
const REST = { ms: 1, framesMax: 2, moreMin: 8 } as const;

export function listenAt(path: string, onConnection: (socket: Socket) => void): Promise<Server> {
  return new Promise((resolve, reject) => {
    // What comes while a socket rests stays in the kernel, and wakes nobody.
    const server = createServer({ highWaterMark: 1 }, onConnection);
    server.once("error", reject);
    server.listen(path, () => resolve(server));
  });
}

/** After so many frames that came in one go, where so many more are to come. */
export function restIfSlow(socket: Socket, frames: number, more: number): void {
  if (frames > REST.framesMax || more < REST.moreMin) return;
  socket.pause();
  setTimeout(() => socket.resume(), REST.ms);
}
