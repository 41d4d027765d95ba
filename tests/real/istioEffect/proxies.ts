import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type Client, type ClientDuplexStream, credentials, makeGenericClientConstructor } from "@grpc/grpc-js";
import {
  type DiscoveryRequest,
  DiscoveryRequestSchema,
  type DiscoveryResponse,
  DiscoveryResponseSchema,
} from "../../../packages/dataplane/src/gen/envoy/service/discovery/v3/discovery_pb.ts";
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

const AggregatedDiscovery = makeGenericClientConstructor(
  {
    stream: {
      path: PATH,
      requestStream: true,
      responseStream: true,
      requestSerialize: (request: DiscoveryRequest) => Buffer.from(toBinary(DiscoveryRequestSchema, request)),
      requestDeserialize: (bytes: Buffer) => fromBinary(DiscoveryRequestSchema, bytes),
      responseSerialize: (response: DiscoveryResponse) => Buffer.from(toBinary(DiscoveryResponseSchema, response)),
      responseDeserialize: (bytes: Buffer) => fromBinary(DiscoveryResponseSchema, bytes),
    },
  },
  "AggregatedDiscoveryService",
);

type Stream = ClientDuplexStream<DiscoveryRequest, DiscoveryResponse>;

/** Proxies that ask istiod for their listeners, as Envoys of these pods would. */
export interface Proxies {
  /** The listeners of one, in Envoy's JSON, as istiod has them now. */
  listenersOf(pod: ProxyPod): Promise<unknown>;
  close(): void;
}

/** Connects a proxy for each pod when it is first asked about. */
export function connectProxies({ xds, debug }: Istiod): Proxies {
  const client = new AggregatedDiscovery(xds, credentials.createInsecure()) as unknown as Client & { stream(): Stream };
  const streams = new Map<string, Promise<Stream>>();

  function connect(id: string, pod: ProxyPod): Promise<Stream> {
    const stream = client.stream();
    return new Promise((resolve, reject) => {
      stream.on("error", reject);
      stream.on("data", ({ typeUrl, versionInfo, nonce }: DiscoveryResponse) => {
        stream.write(create(DiscoveryRequestSchema, { typeUrl, versionInfo, responseNonce: nonce }));
        resolve(stream);
      });
      stream.write(create(DiscoveryRequestSchema, { typeUrl: LISTENERS, node: nodeOf(id, pod) }));
    });
  }

  return {
    async listenersOf(pod) {
      const id = `${pod.name}.${pod.namespace}`;
      const stream = streams.get(id) ?? connect(id, pod);
      streams.set(id, stream);
      await stream;
      const response = await fetch(`${debug}/debug/config_dump?types=LDS&proxyID=${id}`);
      if (!response.ok) throw new Error(`istiod knows nothing of ${id}: ${response.status} ${await response.text()}`);
      return await response.json();
    },
    close() {
      for (const stream of streams.values()) void stream.then((one) => one.on("error", () => undefined).cancel());
      client.close();
    },
  };
}

function nodeOf(id: string, { ip, namespace, name, serviceAccount, labels }: ProxyPod) {
  const metadata = {
    NAME: name,
    NAMESPACE: namespace,
    SERVICE_ACCOUNT: serviceAccount,
    LABELS: { ...labels },
    CLUSTER_ID: "Kubernetes",
    INSTANCE_IPS: ip,
    ISTIO_VERSION: "1.31.0",
  };
  return { id: `sidecar~${ip}~${id}~${namespace}.svc.cluster.local`, cluster: id, metadata } as never;
}
