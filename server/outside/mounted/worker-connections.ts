/** Listens on the socket that a host's workers connect to. Reads slow workers' answers several at a time. */
import { createServer, type Server, type Socket } from "node:net";

/**
 * Bounds of a short pause in reading from a worker's socket. If at most `framesMax` frames arrived at once and at least
 * `moreMin` are still to come, reading pauses for `ms` ms.
 *
 * Several frames are then read together, because each wake-up costs more than reading a frame. The last frames are read
 * without a pause, because the worker waits for its next request.
 */
const REST = { ms: 1, framesMax: 2, moreMin: 8 } as const;

export function listenAt(path: string, onConnection: (socket: Socket) => void): Promise<Server> {
  return new Promise((resolve, reject) => {
    // With the small high-water mark, the data of a paused socket stays in the kernel and causes no wake-ups.
    const server = createServer({ highWaterMark: 1 }, onConnection);
    server.once("error", reject);
    server.listen(path, () => resolve(server));
  });
}

/** Pauses reading for REST.ms if few frames arrived at once and many frames (`more`) are still to come. */
export function restIfSlow(socket: Socket, frames: number, more: number): void {
  if (frames > REST.framesMax || more < REST.moreMin) return;
  socket.pause();
  setTimeout(() => socket.resume(), REST.ms);
}
