import type { Kind, LabelSelector, Resource } from "@isthmus/core";
import { NAMES } from "@isthmus/plane/installation";

/** A Deployment, as far as commands read it. */
export interface DeploymentState extends Resource {
  readonly spec?: {
    readonly replicas?: number;
    readonly selector?: LabelSelector;
    readonly template?: { readonly spec?: { readonly containers?: readonly ContainerState[] } };
  };
  readonly status?: { readonly availableReplicas?: number };
}

interface ContainerState {
  readonly name?: string;
  readonly image?: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name?: string; readonly value?: string }[];
}

/** With their status, which the kind that translation reads leaves open. */
export const DeploymentStates: Kind<DeploymentState> = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  plural: "deployments",
  namespaced: true,
  versions: ["apps/v1"],
  parse: (input) => input as DeploymentState,
};

/** Where an image is, and which. */
export interface ImageName {
  readonly domain: string;
  readonly path: string;
  /** Tag or digest; `latest` without one. */
  readonly version: string;
}

/** The parts of an image's name; short names are those of Docker Hub. Source: the distribution project's reference form. */
export function imageName(image: string): ImageName {
  const [named = "", digest] = image.split("@", 2);
  const colon = named.lastIndexOf(":");
  const isTag = colon > named.lastIndexOf("/");
  const name = isTag ? named.slice(0, colon) : named;
  const version = digest ?? (isTag ? named.slice(colon + 1) : "latest");
  const slash = name.indexOf("/");
  const first = name.slice(0, Math.max(0, slash));
  if (first.includes(".") || first.includes(":") || first === "localhost") return { domain: first, path: name.slice(slash + 1), version };
  return { domain: "docker.io", path: slash < 0 ? `library/${name}` : name, version };
}

/** The Deployment of the management server or of an agent among these, by its names in both generations of the product. */
export function deploymentOf(program: "server" | "agent", deployments: readonly DeploymentState[]): DeploymentState | undefined {
  const names = Object.values(NAMES).map((generation) => generation[program]);
  return deployments.find(({ metadata }) => names.includes(metadata.name));
}

/** The version of a server: the tag of its image. Undefined when no Deployment of its names is among these. */
export function serverVersion(deployments: readonly DeploymentState[]): string | undefined {
  const [container] = deploymentOf("server", deployments)?.spec?.template?.spec?.containers ?? [];
  return container?.image === undefined ? undefined : imageName(container.image).version;
}

/** Whether agents of the management server have client certificates; undefined when no Deployment of its names is among these. */
export function hasClientCertificates(deployments: readonly DeploymentState[]): boolean | undefined {
  const [container] = deploymentOf("server", deployments)?.spec?.template?.spec?.containers ?? [];
  if (container === undefined) return undefined;
  const variable = container.env?.find(({ name }) => name === "RELAY_DISABLE_CLIENT_CERTIFICATE_AUTHENTICATION")?.value ?? "";
  return !(container.args ?? []).includes("--disable-client-certificates") && !["true", "1"].includes(variable.toLowerCase());
}

/** The cluster that the management server manages without registration: its own. */
export function singleCluster(deployments: readonly DeploymentState[]): string | undefined {
  const [container] = deploymentOf("server", deployments)?.spec?.template?.spec?.containers ?? [];
  const flag = "--single-cluster=";
  return container?.args?.find((arg) => arg.startsWith(flag))?.slice(flag.length);
}
