import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type {
  AccessLogCommonSchema,
  HTTPRequestPropertiesSchema,
  HTTPResponsePropertiesSchema,
} from "../src/gen/envoy/data/accesslog/v3/accesslog_pb.ts";
import { StreamAccessLogsMessageSchema } from "../src/gen/envoy/service/accesslog/v3/als_pb.ts";

/** An entry as Envoy sends it. */
export interface EntryInit {
  readonly commonProperties?: MessageInitShape<typeof AccessLogCommonSchema>;
  readonly request?: MessageInitShape<typeof HTTPRequestPropertiesSchema>;
  readonly response?: MessageInitShape<typeof HTTPResponsePropertiesSchema>;
}

/** The identifier of a sidecar, as Istio's agent configures it. */
export function introduction(podName: string, { logName = "all", workload = "reviews-v1" } = {}) {
  const metadata = { NAME: podName, NAMESPACE: "bookinfo", WORKLOAD_NAME: workload, CLUSTER_ID: "cluster-1" };
  const id = `sidecar~10.0.0.7~${podName}.bookinfo~bookinfo.svc.cluster.local`;
  return { node: { id, cluster: "reviews.bookinfo", metadata }, logName };
}

/** A request that a sidecar has let in. */
export function inbound(status: number, more: EntryInit = {}): EntryInit {
  return {
    commonProperties: { upstreamCluster: "inbound|9080||", startTime: { seconds: BigInt(1_700_000_000 + status), nanos: 0 } },
    request: { requestMethod: 1, authority: "reviews:9080", path: `/reviews/0?token=secret`, requestHeaders: {} },
    response: { responseCode: status },
    ...more,
  };
}

/** One message of a stream. */
export function message(entries: readonly EntryInit[], identifier?: ReturnType<typeof introduction>): Uint8Array {
  return toBinary(
    StreamAccessLogsMessageSchema,
    create(StreamAccessLogsMessageSchema, {
      ...(identifier === undefined ? {} : { identifier }),
      logEntries: { case: "httpLogs", value: { logEntry: [...entries] } },
    }),
  );
}
