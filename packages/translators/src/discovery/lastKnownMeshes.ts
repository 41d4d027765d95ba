import { Mesh } from "@isthmus/api";
import { type Delta, refOf, type Snapshot } from "@isthmus/core";
import { lastKnownMeshOf, lastKnownMeshRefOf } from "./detectors/lastKnownMesh.ts";
import type { DiscoveryTranslation } from "./discovery.ts";

/** What remembers what was discovered, and what was attached to it. */
interface Discovering {
  readonly attached: Snapshot;
  readonly cache: { readonly discovery: DiscoveryTranslation | undefined };
}

/** What of it is new or gone with what was discovered since: remembered at once, whether or not it is published. */
export function lastKnownMeshChanges(now: Discovering, before: Discovering | undefined): Delta {
  const [meshes, older] = [now.cache.discovery?.memory.meshes, before?.cache.discovery?.memory.meshes];
  if (meshes === undefined) return { put: [], remove: [] };
  const attached = now.attached.of(Mesh);
  const changes =
    older === undefined ? [...meshes.rows].map((after) => ({ before: undefined, after })) : meshes.rows.changesSince(older.rows);
  const discovered = changes.flatMap(({ after }) => after?.result.output?.resource ?? []);
  // Which gateways are in use is no matter of discovery.
  const used = before === undefined ? [] : attached.changesSince(before.attached.of(Mesh)).flatMap(({ after }) => after ?? []);
  const ours = used.filter((mesh) => now.cache.discovery?.outputs.get(refOf(mesh)) !== undefined);
  const latest = new Map([...discovered, ...ours].map((mesh) => [mesh.metadata.name, attached.get(refOf(mesh)) ?? mesh]));
  const put = [...latest.values()].flatMap((mesh) => lastKnownMeshOf(mesh) ?? []);
  const kept = new Set(put.map(({ metadata }) => metadata.name));
  const gone = changes.flatMap(({ before: was }) =>
    was?.result.output === undefined ? [] : (lastKnownMeshRefOf(refOf(was.result.output.resource)) ?? []),
  );
  return { put, remove: gone.filter(({ name }) => !kept.has(name)) };
}
