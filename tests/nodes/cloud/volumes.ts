import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { CloudApi, CloudObject } from "./api.ts";

interface Claim extends CloudObject {
  readonly spec: {
    readonly storageClassName?: string;
    readonly accessModes: readonly string[];
    readonly resources: { readonly requests: { readonly storage: string } };
  };
  readonly status: { readonly phase?: string };
}

interface Volume extends CloudObject {
  readonly spec: { readonly persistentVolumeReclaimPolicy?: string; readonly local?: { readonly path: string } };
  readonly status: { readonly phase?: string };
}

/** Makes a folder for each claim of the default StorageClass once a pod that wants it has a node, and removes the folder of one that is released. */
export async function provideVolumes(api: CloudApi, folder: string): Promise<void> {
  const volumes = await api.list<Volume>("/api/v1/persistentvolumes");
  const known = new Set(volumes.map(({ metadata }) => metadata.name));
  for (const { metadata, spec, status } of await api.list<Claim>("/api/v1/persistentvolumeclaims")) {
    const name = `pvc-${metadata.uid}`;
    const node = metadata.annotations?.["volume.kubernetes.io/selected-node"];
    if (spec.storageClassName !== "local" || status.phase !== "Pending" || node === undefined || known.has(name)) continue;
    const path = join(folder, name);
    mkdirSync(path, { recursive: true });
    const claimRef = {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      namespace: metadata.namespace,
      name: metadata.name,
      uid: metadata.uid,
    };
    const here = { key: "kubernetes.io/hostname", operator: "In", values: [node] };
    await api.send("POST", "/api/v1/persistentvolumes", {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name, annotations: { "pv.kubernetes.io/provisioned-by": "isthmus/local" } },
      spec: {
        accessModes: spec.accessModes,
        capacity: { storage: spec.resources.requests.storage },
        storageClassName: "local",
        persistentVolumeReclaimPolicy: "Delete",
        local: { path },
        claimRef,
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [here] }] } },
      },
    });
  }
  for (const { metadata, spec, status } of volumes) {
    if (status.phase !== "Released" || spec.persistentVolumeReclaimPolicy !== "Delete" || !metadata.name.startsWith("pvc-")) continue;
    rmSync(join(folder, metadata.name), { recursive: true, force: true });
    await api.send("DELETE", `/api/v1/persistentvolumes/${metadata.name}`);
  }
}
