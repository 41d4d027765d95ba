import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { discoveryRequest } from "./discoveryRequest.ts";
import type { Istiod } from "./istiod.ts";

/** The pod that a proxy says it is in. */
export interface ProxyPod {
  readonly name: string;
  readonly namespace: string;
  readonly ip: string;
  readonly serviceAccount: string;
  readonly labels: Readonly<Record<string, string>>;
}

const LISTENERS = "type.googleapis.com/envoy.config.listener.v3.Listener";
const PATH = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";

/** Proxies that ask istiod for their listeners, as Envoys of these pods would. */
export interface Proxies {
  /** The listeners of one, in Envoy's JSON, as istiod has them now. */
  listenersOf(pod: ProxyPod): Promise<unknown>;
  close(): void;
}

/** Connects a proxy for each pod when it is first asked about. */
export function connectProxies({ xds, debug }: Istiod): Proxies {
  const session = connect(`http://${xds}`);
  const streams = new Map<string, Promise<ClientHttp2Stream>>();
  return {
    async listenersOf(pod) {
      const id = `${pod.name}.${pod.namespace}`;
      const stream = streams.get(id) ?? connected(session, id, pod);
      streams.set(id, stream);
      await stream;
      const response = await fetch(`${debug}/debug/config_dump?types=LDS&proxyID=${id}`);
      if (!response.ok) throw new Error(`istiod knows nothing of ${id}: ${response.status} ${await response.text()}`);
      return await response.json();
    },
    close: () => session.destroy(),
  };
}

/** Resolves with the first answer; it is never acknowledged, which istiod does not wait for. */
function connected(session: ClientHttp2Session, id: string, pod: ProxyPod): Promise<ClientHttp2Stream> {
  const stream = session.request({ ":method": "POST", ":path": PATH, "content-type": "application/grpc", te: "trailers" });
  return new Promise((resolve, reject) => {
    stream.on("error", reject);
    stream.on("trailers", (trailers) => reject(new Error(`istiod ended the stream of ${id}: ${JSON.stringify(trailers)}`)));
    stream.on("data", () => resolve(stream));
    stream.write(discoveryRequest({ id: nodeId(id, pod), metadata: metadataOf(pod), typeUrl: LISTENERS }));
  });
}

function nodeId(id: string, { ip, namespace }: ProxyPod): string {
  return `sidecar~${ip}~${id}~${namespace}.svc.cluster.local`;
}

function metadataOf({ ip, namespace, name, serviceAccount, labels }: ProxyPod) {
  return {
    NAME: name,
    NAMESPACE: namespace,
    SERVICE_ACCOUNT: serviceAccount,
    LABELS: labels,
    CLUSTER_ID: "Kubernetes",
    INSTANCE_IPS: ip,
    ISTIO_VERSION: "1.31.0",
  };
}
