import type { KubernetesCluster } from "@isthmus/api";
import type { Cluster } from "@isthmus/ports";
import { updateRegistration } from "../../cluster/annotate.ts";
import { appliersOf, type OwnedField } from "../../cluster/clusterMode.ts";
import type { Io } from "../../io.ts";
import { registeredCluster } from "../../plane/describe/printCluster.ts";

interface FieldOfRegistration {
  readonly io: Io;
  readonly cluster: Cluster;
  /** Where it is written: the same, or one that only tries it. */
  readonly target: Cluster;
  readonly name: string;
  readonly namespace: string;
  readonly field: OwnedField;
  readonly set: (spec: NonNullable<KubernetesCluster["spec"]>) => NonNullable<KubernetesCluster["spec"]>;
}

/** Changes one field of a registration, and warns of others who apply it. Throws UsageError, with the nearest name, where the cluster is not registered. */
export async function setInRegistration(options: FieldOfRegistration, signal: AbortSignal): Promise<void> {
  const { io, cluster, target, name, namespace, field, set } = options;
  const before = await registeredCluster({ cluster, name, namespace }, signal);
  await updateRegistration(target, { name, namespace }, (found) => ({ ...found, spec: set(found.spec ?? {}) }), signal);
  const appliers = appliersOf(before, field);
  if (appliers.length === 0) return;
  io.note(
    `${io.colors.yellow("warning:")} spec.${field} of KubernetesCluster ${namespace}/${name} is also applied by ${appliers.join(", ")}, which may set it again: change it there, too\n`,
  );
}
