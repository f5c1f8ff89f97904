/** The stores in databases of their own, on the server that all tests share. */
import {
  openPostgres,
  type PostgresOptions,
  type PostgresStores,
} from "../../../../server/stores/postgres/postgres.ts";
import { signingKey } from "../../../../server/tasks/keyring.ts";
import { sharedDatabase } from "../../../support/shared-postgres.ts";

export const key = signingKey(Buffer.alloc(32, 7));

export async function onPostgres(options: Partial<PostgresOptions> = {}): Promise<PostgresStores> {
  return openPostgres({ url: options.url ?? (await sharedDatabase()), keys: [key], ...options });
}
