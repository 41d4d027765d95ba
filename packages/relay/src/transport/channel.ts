import { checkServerIdentity, createSecureContext, type PeerCertificate } from "node:tls";
import { Client, type ClientOptions, credentials } from "@grpc/grpc-js";
import { chainFacts } from "@isthmus/certificates";
import type { RelayCredentials } from "../registration/credentials.ts";
import { MAX_MESSAGE_BYTES } from "../session/wire.ts";
import "./grpcLogging.ts";
import { WINDOW_BYTES } from "./http2Server.ts";
import { notForServers, wrongName } from "./status.ts";
import { signingAuthorityOf, TLS_POLICY } from "./tlsPolicy.ts";

export interface ChannelOptions {
  /** host:port */
  readonly address: string;
  /** The name that the server's certificate must bear, whatever the address is. */
  readonly authority: string;
  /** PEM. Undefined: the server is not verified at all, which is for tests alone. */
  readonly root: string | undefined;
  readonly identity: Pick<RelayCredentials, "certificate" | "key"> | undefined;
}

/** A channel of its own connection: never shared, so that new certificates count from the next one on. Nothing is sent before the server is verified. Throws for certificates that cannot be used. */
export function openChannel({ address, authority, root, identity }: ChannelOptions): Client {
  // The TLS library would take anything, and then trust nothing.
  if (root !== undefined) chainFacts(root);
  const context = createSecureContext({
    ...TLS_POLICY,
    ...(root === undefined ? {} : { ca: root }),
    ...(identity === undefined ? {} : { key: identity.key, cert: identity.certificate }),
  });
  const tls = credentials.createFromSecureContext(
    context,
    root === undefined ? { rejectUnauthorized: false, checkServerIdentity: () => undefined } : { checkServerIdentity: checkServerName },
  );
  const options: ClientOptions = {
    "grpc.ssl_target_name_override": authority,
    "grpc.default_authority": authority,
    "grpc.use_local_subchannel_pool": 1,
    "grpc.enable_retries": 0,
    "grpc.service_config_disable_resolution": 1,
    "grpc.max_receive_message_length": 2 * MAX_MESSAGE_BYTES,
    "grpc-node.flow_control_window": WINDOW_BYTES,
    // A proxy for the way out of a machine is no way to the machine itself.
    "grpc.enable_http_proxy": isLoopback(address) ? 0 : 1,
  };
  return new Client(address, tls, options);
}

/** Node's own check, and the certificates that the product's guide has users make: their one name is `*.gloo-mesh`, too short a wildcard for Node. */
export function checkServerName(host: string, certificate: PeerCertificate): Error | undefined {
  const signing = signingAuthorityOf(certificate);
  if (signing !== undefined) return notForServers(signing);
  if (checkServerIdentity(host, certificate) === undefined) return undefined;
  const names = (certificate.subjectaltname ?? "").split(", ").flatMap((name) => (name.startsWith("DNS:") ? [name.slice(4)] : []));
  const parent = /^[^.]+(\..+)$/.exec(host)?.[1]?.toLowerCase();
  return parent !== undefined && names.some((name) => name.toLowerCase() === `*${parent}`) ? undefined : wrongName(host, names);
}

function isLoopback(address: string): boolean {
  return /^(localhost|127\.[\d.]+|\[::1\]):\d+$/.test(address);
}
