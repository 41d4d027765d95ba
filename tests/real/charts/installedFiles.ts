import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Secret } from "@isthmus/api";
import type { Cluster } from "@isthmus/ports";
import type { Container, PodSpec } from "./rendered.ts";

export interface PodFiles {
  readonly cluster: Cluster;
  readonly namespace: string;
  /** Where the volumes are on this machine. */
  readonly directory: string;
}

/**
 * Mounts the Secrets of a pod, as the kubelet would, and gives the arguments of its container with the paths of this machine. Rejects
 * for a Secret or a key that does not exist: the kubelet would not start the container.
 */
export async function withMounts({ volumes = [] }: PodSpec, container: Container, files: PodFiles): Promise<readonly string[]> {
  const { cluster, namespace, directory } = files;
  for (const { name, secret } of volumes) {
    if (secret === undefined) continue;
    const found = await cluster.get(Secret, { name: secret.secretName, namespace });
    const { data = {} } = found ?? {};
    if (secret.items === undefined && found === undefined) throw new Error(`volume ${name}: no Secret ${namespace}/${secret.secretName}`);
    const folder = join(directory, name);
    mkdirSync(folder, { recursive: true });
    for (const { key, path } of secret.items ?? Object.keys(data).map((each) => ({ key: each, path: each }))) {
      const value = data[key];
      if (value === undefined) throw new Error(`volume ${name}: Secret ${namespace}/${secret.secretName} lacks ${key}`);
      writeFileSync(join(folder, path), Buffer.from(value, "base64"));
    }
  }
  const { args, volumeMounts = [] } = container;
  return volumeMounts.reduce<readonly string[]>(
    (all, { name, mountPath }) =>
      all
        .map((arg) => (arg.endsWith(`=${mountPath}`) ? arg.replace(mountPath, join(directory, name)) : arg))
        .map((arg) => arg.replace(`=${mountPath}/`, `=${join(directory, name)}/`)),
    args,
  );
}
