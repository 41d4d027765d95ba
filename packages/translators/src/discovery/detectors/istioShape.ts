import { ISTIOD_CONTAINER, type Pod } from "@isthmus/api";

// How Istio's parts are recognised by their shape: the names that its charts and its injector give to containers, and the labels of istiod. Images only add
// to these: registries of vendors and mirrors rename the whole path. Sources: istio.io/istio, charts istiod and gateway, injection-template.yaml;
// pkg/kube/inject, ProxyContainerName.

/** The name that the injector, and gateways that it fills in, give to the container of the proxy. */
const PROXY_CONTAINER = "istio-proxy";

const PROXY_IMAGE = /(^|[/-])proxyv2(-[^/:@]*)?([:@]|$)/;
const PILOT_IMAGE = /(^|[/-])pilot(-[^/:@]*)?([:@]|$)/;
/** Of the same name as the proxy of a pod is the container of the ambient mesh's proxy of a node, which stands beside no application. */
const NODE_PROXY_IMAGE = /(^|[/-])ztunnel(-[^/:@]*)?([:@]|$)/;

/** Whether an image is that of the ambient mesh's proxy of a node. */
export function isNodeProxyImage(image: string): boolean {
  return isImage(NODE_PROXY_IMAGE, image);
}

/** What is longer is no reference to an image, and takes long to look through. Source: distribution/reference, NameTotalLengthMax and tags. */
const LONGEST_IMAGE = 512;

function isImage(pattern: RegExp, image: string): boolean {
  return image.length <= LONGEST_IMAGE && pattern.test(image);
}

interface Container {
  readonly name?: string;
  readonly image?: string;
}

interface Labelled {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** Whether a container runs Istio's proxy, by its name or that of its image. */
export function isProxyContainer({ name, image = "" }: Container): boolean {
  return (name === PROXY_CONTAINER && !isImage(NODE_PROXY_IMAGE, image)) || isImage(PROXY_IMAGE, image);
}

/** The container of a pod that runs Istio's proxy; since Kubernetes has sidecars of its own, it may be an init container that stays. */
export function proxyContainer({ spec }: Pod): Container | undefined {
  const { containers = [], initContainers = [] } = spec ?? {};
  // Istio's one-time init container runs the same image and is no sidecar.
  const staying = initContainers.filter(({ restartPolicy }) => restartPolicy === "Always");
  const isProxy = (container: Container) => isProxyContainer(container) || isLikeProxy(container);
  return containers.find(isProxy) ?? staying.find(isProxy);
}

/** Builds of Istio have had other names for the image; too vague to tell a gateway, to which access is open. */
function isLikeProxy({ image = "" }: Container): boolean {
  return image.includes("istio") && image.includes("proxy") && !isImage(NODE_PROXY_IMAGE, image);
}

/** The container of istiod among those of a Deployment, or pod, that says it is one; undefined without it. */
export function istiodContainer<C extends Container>(labelled: Labelled, containers: readonly C[]): C | undefined {
  if (!saysIstiod(labelled)) return undefined;
  return (
    containers.find(({ image = "" }) => image.includes("istio") && image.includes("pilot")) ??
    containers.find(({ name }) => name === ISTIOD_CONTAINER) ??
    containers.find(({ image = "" }) => isImage(PILOT_IMAGE, image))
  );
}

/** Whether a pod is one of istiod. */
export function isIstiodPod({ metadata: { name, labels }, spec }: Pod): boolean {
  return istiodContainer({ name, labels }, spec?.containers ?? []) !== undefined;
}

/** By its name, perhaps with a revision, or by the labels of its pods. */
function saysIstiod({ name, labels }: Labelled): boolean {
  return name.startsWith("istiod") || ISTIOD_LABELS.some(([key, value]) => labels?.[key] === value);
}

const ISTIOD_LABELS = [
  ["app", "istiod"],
  ["app.kubernetes.io/name", "istiod"],
] as const;
