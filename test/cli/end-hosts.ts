/** For vitest's setupFiles, which it runs again for each file: processes that commands share are ended behind each. */
import { afterAll } from "vitest";
import { endHosts } from "./gradus.ts";

afterAll(endHosts);
