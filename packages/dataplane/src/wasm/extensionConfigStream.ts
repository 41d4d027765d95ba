import { create, toBinary } from "@bufbuild/protobuf";
import { keptText } from "@isthmus/core";
import type { Node } from "../gen/envoy/config/core/v3/base_pb.ts";
import { type DiscoveryRequest, DiscoveryResponseSchema } from "../gen/envoy/service/discovery/v3/discovery_pb.ts";
import { type LoggingProxy, proxyOf } from "../loggingProxy.ts";

/** The configuration of one filter, as a proxy gets it. */
export interface ExtensionConfig {
  /** Differs when `config` differs: a hash of it. */
  readonly version: string;
  /** An encoded `envoy.config.core.v3.TypedExtensionConfig`. */
  readonly config: Uint8Array;
}

/** What became of one filter at one proxy. */
export type ConfigOutcome =
  | { readonly state: "PENDING" }
  | { readonly state: "ACCEPTED"; readonly version: string }
  | { readonly state: "REFUSED"; readonly version: string; readonly error: string };

/** A message of the agent, encoded. */
export interface ConfigResponse {
  readonly bytes: Uint8Array;
}

/** Why a stream is closed by us: its client alone has done something wrong, and the others go on. */
export class DiscoveryRefused extends Error {
  override readonly name = "DiscoveryRefused";
}

/** One stream of `ExtensionConfigDiscoveryService`, without its socket. */
export interface ExtensionConfigStream {
  /** Takes a request. Throws DiscoveryRefused for one that is none of this service. */
  receive(request: DiscoveryRequest): void;
  /** What is to be sent now, of what there is for the proxy: nothing while it has not answered what was sent before, and nothing that it knows. */
  next(configs: ReadonlyMap<string, ExtensionConfig>): ConfigResponse | undefined;
  /** Who it says it is; undefined before its first request. */
  readonly claimed: LoggingProxy | undefined;
  /** It has been sent something that it has neither accepted nor refused. */
  readonly isOwed: boolean;
  /** What it asked for, with what became of it. */
  outcomes(): ReadonlyMap<string, ConfigOutcome>;
}

/**
 * State of the world, one response at a time: of the names that a proxy asks for, those are sent whose version it has neither accepted nor
 * refused. A name without a configuration is not answered: the proxy keeps what it has. Source: Envoy, “xDS REST and gRPC protocol”.
 */
export function extensionConfigStream(): ExtensionConfigStream {
  let claimed: LoggingProxy | undefined;
  let names: ReadonlySet<string> = new Set();
  let sent: { readonly nonce: string; readonly versions: ReadonlyMap<string, string> } | undefined;
  let count = 0;
  const outcomes = new Map<string, ConfigOutcome>();

  function introduce(node: Node | undefined): void {
    claimed = proxyOf(node);
    if (claimed === undefined)
      throw new DiscoveryRefused("the first request names no pod: its node has neither Istio's metadata nor Istio's id");
  }

  return {
    receive({ node, typeUrl, resourceNames, responseNonce, errorDetail }) {
      if (claimed === undefined) introduce(node);
      if (typeUrl !== "" && typeUrl !== TYPE_URL) throw new DiscoveryRefused(`only ${TYPE_URL} is served here`);
      if (resourceNames.length > MOST_NAMES || resourceNames.some((name) => name.length > LONGEST_NAME)) {
        throw new DiscoveryRefused(`a stream may ask for ${MOST_NAMES} names of at most ${LONGEST_NAME} letters`);
      }
      // Of a response before the last: what follows from it is out of date.
      if (responseNonce !== "" && responseNonce !== sent?.nonce) return;
      if (sent !== undefined && responseNonce === sent.nonce) {
        for (const [name, version] of sent.versions) {
          if (errorDetail === undefined) outcomes.set(name, { state: "ACCEPTED", version });
          else outcomes.set(name, { state: "REFUSED", version, error: readable(errorDetail.message) });
        }
        sent = undefined;
      }
      names = new Set(resourceNames);
      for (const name of outcomes.keys()) if (!names.has(name)) outcomes.delete(name);
    },
    next(configs) {
      if (sent !== undefined) return undefined;
      const versions = new Map<string, string>();
      const resources: { readonly typeUrl: string; readonly value: Uint8Array }[] = [];
      let size = 0;
      for (const name of names) {
        const config = configs.get(name);
        const before = outcomes.get(name);
        if (config === undefined || (before !== undefined && before.state !== "PENDING" && before.version === config.version)) continue;
        // The rest goes with the next response.
        if (resources.length > 0 && size + config.config.length > MOST_BYTES) break;
        size += config.config.length;
        versions.set(name, config.version);
        resources.push({ typeUrl: TYPE_URL, value: config.config });
      }
      if (resources.length === 0) return undefined;
      count += 1;
      sent = { nonce: `${count}`, versions };
      // Of one name its version; of several those of all, as a response has one.
      const versionInfo = [...versions.values()].join(" ");
      const response = create(DiscoveryResponseSchema, { versionInfo, resources, typeUrl: TYPE_URL, nonce: sent.nonce });
      return { bytes: toBinary(DiscoveryResponseSchema, response) };
    },
    get claimed() {
      return claimed;
    },
    get isOwed() {
      return sent !== undefined;
    },
    outcomes: () => new Map([...names].map((name) => [name, outcomes.get(name) ?? { state: "PENDING" }])),
  };
}

/** One line of a proxy's words, for statuses and logs. */
function readable(text: string): string {
  return [...keptText(text, LONGEST_ERROR)].map((letter) => (/[\p{L}\p{N}\p{P}\p{S} ]/u.test(letter) ? letter : " ")).join("");
}

export const TYPE_URL = "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig";
// As many modules as one proxy may have.
const MOST_NAMES = 64;
const LONGEST_NAME = 253;
const LONGEST_ERROR = 1_024;
// One module of the largest size that is served, and its configuration.
const MOST_BYTES = 17 * 1024 * 1024;
