/**
 * Encodes and decodes the messages (frames) between the server and a zygote, the Python process that runs programs. The
 * other end is python/serve.py. Numbers are big-endian.
 */
import type { SandboxJob } from "../../../envs/ports.ts";
import { frameCutter } from "../frame-cutter.ts";

/** Kinds of messages from the server to a zygote (sandbox process). */
const requestKinds = { run: 1, cancel: 2, figures: 3 } as const;
/** Kinds of messages from a zygote (sandbox process). The first five say how a test case ended. */
const frameKinds = {
  reply: 1,
  printed: 2,
  raised: 3,
  exceeded: 4,
  died: 5,
  hello: 10,
  done: 11,
  counted: 12,
  fault: 13,
  busy: 14,
} as const;

const caseKinds = { script: 0, call: 1 } as const;

export type FrameKind = keyof typeof frameKinds;

export interface Frame {
  readonly kind: FrameKind;
  readonly jobId: number;
  readonly payload: Buffer;
}

const HEADER_BYTES = 9;
/** Maximum bytes of a message's content. Results that python/process.py sends are shorter. */
const PAYLOAD_BYTES_MAX = 2 * 1024 ** 2 + 1024;
/** Maximum bytes of a job's message. Zygotes (sandbox processes) refuse longer ones. */
export const JOB_BYTES_MAX = 64 * 1024 ** 2;

const kindOfNumber = new Map<number, FrameKind>(
  Object.entries(frameKinds).map(([kind, number]) => [number, kind as FrameKind]),
);

function header(kind: keyof typeof requestKinds, jobId: number, payloadBytes: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.writeUInt8(requestKinds[kind], 0);
  bytes.writeUInt32BE(jobId, 1);
  bytes.writeUInt32BE(payloadBytes, 5);
  return bytes;
}

export const cancelBytes = (jobId: number): Buffer => header("cancel", jobId, 0);
export const figuresBytes = (jobId: number): Buffer => header("figures", jobId, 0);

/** Encodes a job (a program with test cases). Undefined: the message would be longer than JOB_BYTES_MAX. */
export function jobBytes(jobId: number, { program, cases, cpuMsMax }: SandboxJob): Buffer | undefined {
  const source = Buffer.from(program);
  const fixed = Buffer.alloc(12);
  fixed.writeUInt32BE(source.length, 0);
  fixed.writeUInt32BE(Math.round(cpuMsMax), 4);
  fixed.writeUInt32BE(cases.length, 8);
  const parts: Buffer[] = [fixed, source];
  for (const each of cases) {
    const payload = Buffer.from(each.kind === "script" ? each.stdin : JSON.stringify(each));
    const fields = Buffer.alloc(5);
    fields.writeUInt8(caseKinds[each.kind], 0);
    fields.writeUInt32BE(payload.length, 1);
    parts.push(fields, payload);
  }
  const bytes = parts.reduce((sum, part) => sum + part.length, 0);
  return bytes > JOB_BYTES_MAX ? undefined : Buffer.concat([header("run", jobId, bytes), ...parts]);
}

/**
 * Returns a function that collects chunks of bytes and calls `onFrame` for each complete message. It throws on bytes
 * that are not a message.
 */
export function createFrameReader(onFrame: (frame: Frame) => void): (chunk: Buffer) => void {
  return frameCutter(frameBytes, (frame) => onFrame(frameOf(frame)));
}

/**
 * Returns the length of the first message in bytes, including its header. Until the whole header has arrived, returns
 * the header's length.
 */
function frameBytes(start: Buffer): number {
  if (start.length < HEADER_BYTES) return HEADER_BYTES;
  const payload = start.readUInt32BE(5);
  if (payload > PAYLOAD_BYTES_MAX)
    throw new Error(
      `a message of the sandbox process claims ${payload} bytes of content, and the limit is ${PAYLOAD_BYTES_MAX}`,
    );
  return HEADER_BYTES + payload;
}

function frameOf(bytes: Buffer): Frame {
  const kind = kindOfNumber.get(bytes.readUInt8(0));
  if (kind === undefined)
    throw new Error(`a message of the sandbox process has the unknown kind ${bytes.readUInt8(0)}`);
  // The content is copied, so that a small message does not keep a large chunk in memory.
  return { kind, jobId: bytes.readUInt32BE(1), payload: Buffer.from(bytes.subarray(HEADER_BYTES)) };
}
