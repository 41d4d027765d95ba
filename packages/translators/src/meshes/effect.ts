import type { HttpMatchRequest } from "@isthmus/api";
import type { ResourceRef } from "@isthmus/core";

/** A value that requests meet, and who set it. */
export interface EffectValue {
  /** The field of the mesh's own object. */
  readonly field: string;
  readonly value: unknown;
  /** Where users set it; undefined: it holds where no policy says anything. */
  readonly path: string | undefined;
  readonly policy: ResourceRef | undefined;
}

/** Some requests, and what they meet. */
export interface RouteEffect {
  /** Without conditions: all that no route before it takes. */
  readonly match: HttpMatchRequest;
  readonly values: readonly EffectValue[];
}

/** What requests from one mesh to a Destination meet. */
export interface SourceEffect {
  /** The cluster of the callers. */
  readonly cluster: string;
  /** What they call the Destination. */
  readonly host: string;
  /** The first whose match holds counts. */
  readonly routes: readonly RouteEffect[];
  /** What holds for connections, whatever request they are for. */
  readonly connection: readonly EffectValue[];
}

/** What the policies in force on a Destination come to, for each mesh that it can be called from, its own first. */
export interface DestinationEffect {
  readonly sources: readonly SourceEffect[];
}
