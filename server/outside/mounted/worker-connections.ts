/** Listens on the socket that a host's workers connect to, and paces the reading from slow workers. */
import { createServer, type Server, type Socket } from "node:net";

/**
 * Limits for reading with pauses. While many answers are still to come, those that arrive one by
 * one are read together 1 ms later, because each wake-up costs more than the rest. The last few are
 * read at once, since the worker then has nothing else to do.
 */
const REST = { ms: 1, framesMax: 2, moreMin: 8 } as const;

export function listenAt(path: string, onConnection: (socket: Socket) => void): Promise<Server> {
  return new Promise((resolve, reject) => {
    // The small high-water mark leaves data in the kernel while a socket is paused, so that nothing
    // wakes up.
    const server = createServer({ highWaterMark: 1 }, onConnection);
    server.once("error", reject);
    server.listen(path, () => resolve(server));
  });
}

/** Pauses a socket for REST.ms if few frames came together and many more are to come. */
export function restIfSlow(socket: Socket, frames: number, more: number): void {
  if (frames > REST.framesMax || more < REST.moreMin) return;
  socket.pause();
  setTimeout(() => socket.resume(), REST.ms);
}
