import type { Kind, Resource } from "@isthmus/core";
import type { Connection } from "./connection.ts";
import type { ResourceCollection } from "./paths.ts";

/** One kind in one cluster, in the version that is read. */
export interface WatchTarget<R extends Resource> {
  readonly connection: Connection;
  readonly clusterName: string;
  readonly kind: Kind<R>;
  readonly collection: ResourceCollection;
  /** Whether what is read has its last writer (`lastWriterOf` of core). */
  readonly keepsLastWriter: boolean;
}
