import { AccessPolicy, Destination, Mesh, type TrafficPolicy, Workload } from "@isthmus/api";
import { keyOf, keyOfResource, type Snapshot } from "@isthmus/core";
import { byMesh } from "../attachment/indexes.ts";
import { selectsIdentity, selectsWorkload } from "../attachment/selectors.ts";
import { meshKey } from "../attachment/virtualMeshes.ts";

/** Finds the workloads whose traffic policies are about. Answers are kept, as many policies ask the same. */
export class SelectedWorkloads {
  readonly #snapshot: Snapshot;
  readonly #reach = new Map<string, readonly string[]>();
  readonly #answers = new Map<string, readonly string[]>();

  /** `attached`: its Meshes know their VirtualMeshes. */
  constructor(attached: Snapshot) {
    this.#snapshot = attached;
    const groups = new Map<string, string[]>();
    for (const mesh of attached.of(Mesh)) {
      const ref = mesh.status?.appliedVirtualMesh?.ref;
      const group = ref === undefined ? `mesh ${keyOfResource(mesh)}` : keyOf({ clusterName: "", ...ref });
      const members = groups.get(group) ?? [];
      groups.set(group, members);
      members.push(keyOfResource(mesh));
      this.#reach.set(keyOfResource(mesh), members);
    }
  }

  /** The keys of the workloads that a policy selects, in the meshes of its Destinations and in those grouped with them; sorted. */
  of(policy: TrafficPolicy | AccessPolicy, destinationKeys: Iterable<string>): readonly string[] {
    const meshes = [...new Set([...destinationKeys].flatMap((key) => this.#meshesOf(key)))].sort();
    const selector = policy.spec?.sourceSelector ?? [];
    const question = JSON.stringify([policy.kind, selector, meshes]);
    let answer = this.#answers.get(question);
    if (answer === undefined) {
      const workloads = meshes.flatMap((mesh) => this.#snapshot.of(Workload).where(byMesh, mesh));
      answer = workloads
        .filter((workload) => selects(policy, workload))
        .map(keyOfResource)
        .sort();
      this.#answers.set(question, answer);
    }
    return answer;
  }

  /** The meshes whose workloads may call a Destination. */
  #meshesOf(destinationKey: string): readonly string[] {
    const [name = "", namespace = ""] = destinationKey.split(".");
    const mesh = this.#snapshot.of(Destination).get({ name, namespace, clusterName: "" })?.spec?.mesh;
    return mesh === undefined ? [] : (this.#reach.get(meshKey(mesh)) ?? [meshKey(mesh)]);
  }
}

function selects(policy: TrafficPolicy | AccessPolicy, workload: Workload): boolean {
  return isAccessPolicy(policy)
    ? selectsIdentity(policy.spec?.sourceSelector, workload)
    : selectsWorkload(policy.spec?.sourceSelector, workload);
}

function isAccessPolicy(policy: TrafficPolicy | AccessPolicy): policy is AccessPolicy {
  return policy.kind === AccessPolicy.kind;
}
