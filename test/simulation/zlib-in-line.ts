/**
 * Compression without threads, whose pace would be the machine's and not the world's. To be imported before the code
 * under test, which asks for these functions as promises when it is loaded (util.promisify.custom).
 */
import { promisify } from "node:util";
import { gunzip, gunzipSync, gzip, gzipSync, type ZlibOptions } from "node:zlib";

function inLine(asked: object, at: (data: Uint8Array, options: ZlibOptions) => Uint8Array): void {
  const value = async (data: Uint8Array, options: ZlibOptions): Promise<Uint8Array> => at(data, options);
  Object.defineProperty(asked, promisify.custom, { value });
}

inLine(gzip, gzipSync);
inLine(gunzip, gunzipSync);
