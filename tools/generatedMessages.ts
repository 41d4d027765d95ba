import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { commandResult } from "./commandResult.ts";

/** Where generated messages are: of the relay's own protocol, and of Envoy's services. */
export const GENERATED = ["packages/relay/src/gen", "packages/dataplane/src/gen"] as const;

/** Generates all messages below `output`, as below the project's root. Gives what went wrong. Works without network. */
export async function generateMessages(output: string): Promise<readonly string[]> {
  // buf generates below `--output`, as it would below the root.
  const ours = await commandResult([BUF, "generate", "--output", output], GENERATED[0]);
  if (ours.problems.length > 0) return ours.problems;
  const protos = mkdtempSync(join(tmpdir(), "isthmus-envoy-"));
  try {
    copyProtos(protos);
    const types = ENVOY_TYPES.flatMap((type) => ["--type", type]);
    const excluded = UNUSED_TYPES.flatMap((type) => ["--exclude-type", type]);
    const command = [BUF, "generate", protos, "--template", "buf.gen.envoy.yaml", "--output", output, ...types, ...excluded];
    return (await commandResult(command, GENERATED[1])).problems;
  } finally {
    rmSync(protos, { recursive: true });
  }
}

/** The files that are needed and what they import: the whole folders do not build, as they import what is not among them. */
function copyProtos(to: string): void {
  const todo: string[] = [...ENVOY_FILES];
  const seen = new Set<string>();
  for (let file = todo.pop(); file !== undefined; file = todo.pop()) {
    if (seen.has(file) || file.startsWith("google/protobuf/")) continue;
    seen.add(file);
    const path = PROTO_ROOTS.map((root) => join(PROTO_PACKAGE, root, file)).find(existsSync);
    if (path === undefined) throw new Error(`${PROTO_PACKAGE} has no ${file}: run npm ci`);
    mkdirSync(dirname(join(to, file)), { recursive: true });
    copyFileSync(path, join(to, file));
    for (const [, imported] of readFileSync(path, "utf8").matchAll(/^\s*import\s+(?:public\s+|weak\s+)?"([^"]+)"/gm)) {
      if (imported !== undefined) todo.push(imported);
    }
  }
}

const BUF = "node_modules/.bin/buf";
const PROTO_PACKAGE = "node_modules/@grpc/grpc-js-xds/deps";
const PROTO_ROOTS = ["envoy-api", "xds", "googleapis", "protoc-gen-validate"];
const ENVOY_FILES = [
  "envoy/service/accesslog/v3/als.proto",
  "envoy/service/extension/v3/config_discovery.proto",
  "envoy/config/core/v3/extension.proto",
  "envoy/extensions/filters/http/wasm/v3/wasm.proto",
];
const ENVOY_TYPES = [
  "envoy.service.accesslog.v3.AccessLogService",
  "envoy.service.extension.v3.ExtensionConfigDiscoveryService",
  "envoy.config.core.v3.TypedExtensionConfig",
  "envoy.extensions.filters.http.wasm.v3.Wasm",
];
// Rules for validators, which nobody here runs.
const UNUSED_TYPES = ["validate.rules", "validate.required", "validate.disabled", "udpa.annotations.versioning"];
