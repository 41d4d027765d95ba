import type { AnyResource } from "@isthmus/core";

/** A container as charts render it. */
export interface Container {
  readonly name: string;
  readonly command?: readonly string[];
  readonly args: readonly string[];
  readonly env?: readonly ContainerVariable[];
  readonly ports?: readonly { readonly containerPort: number }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

export interface ContainerVariable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly fieldRef?: { readonly fieldPath: string };
    readonly secretKeyRef?: { readonly name: string; readonly key: string; readonly optional?: boolean };
  };
}

/** A volume of a Pod, as far as it is a Secret; without items all of its keys are files. */
export interface PodVolume {
  readonly name: string;
  readonly secret?: { readonly secretName: string; readonly items?: readonly { readonly key: string; readonly path: string }[] };
}

/** spec of a Pod. */
export interface PodSpec {
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly volumes?: readonly PodVolume[];
  readonly containers: readonly Container[];
}

/** The specs of the pods that objects start. */
export function podsIn(
  objects: readonly AnyResource[],
): readonly { readonly name: string; readonly labels: object; readonly spec: PodSpec }[] {
  return objects
    .filter(({ kind }) => kind === "Deployment")
    .map((deployment) => {
      const { spec } = deployment as unknown as DeploymentFields;
      return { name: deployment.metadata.name, labels: spec.template.metadata.labels, spec: spec.template.spec };
    });
}

interface DeploymentFields {
  readonly spec: { readonly template: { readonly metadata: { readonly labels: object }; readonly spec: PodSpec } };
}
