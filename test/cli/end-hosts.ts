/** Ends the processes that commands share after each test file; vitest's setupFiles runs it for each file. */
import { afterAll } from "vitest";
import { endHosts } from "./gradus.ts";

afterAll(endHosts);
