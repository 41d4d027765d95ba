import { createHash } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { anyPack, StringValueSchema } from "@bufbuild/protobuf/wkt";
import { TypedExtensionConfigSchema } from "../gen/envoy/config/core/v3/extension_pb.ts";
import { WasmSchema } from "../gen/envoy/extensions/filters/http/wasm/v3/wasm_pb.ts";
import type { ExtensionConfig } from "./extensionConfigStream.ts";

/** A Wasm filter as an agent gives it to a proxy. */
export interface WasmFilter {
  /** Of the filter, by which the proxy asks for it. */
  readonly name: string;
  /** The module itself, or where it is in the proxy. */
  readonly code: { readonly bytes: Uint8Array } | { readonly filename: string };
  /** Which of the module's plugins; "" where it has one. */
  readonly rootId?: string;
  /** Filters with the same module and id share a VM. */
  readonly vmId?: string;
  /** What the plugin reads when it starts. */
  readonly configuration?: string;
  /** Requests pass when the module stops with an error; else they get 503. */
  readonly failOpen: boolean;
}

/** The configuration of a Wasm filter, its version the SHA-256 of all of it. Source: envoy/extensions/wasm/v3/wasm.proto. */
export function wasmFilterConfig({ name, code, rootId = "", vmId = "", configuration, failOpen }: WasmFilter): ExtensionConfig {
  const specifier =
    "bytes" in code ? ({ case: "inlineBytes", value: code.bytes } as const) : ({ case: "filename", value: code.filename } as const);
  const wasm = create(WasmSchema, {
    config: {
      name,
      rootId,
      failOpen,
      vm: {
        case: "vmConfig",
        value: { vmId, runtime: "envoy.wasm.runtime.v8", code: { specifier: { case: "local", value: { specifier } } } },
      },
      ...(configuration === undefined
        ? {}
        : { configuration: anyPack(StringValueSchema, create(StringValueSchema, { value: configuration })) }),
    },
  });
  const config = toBinary(TypedExtensionConfigSchema, create(TypedExtensionConfigSchema, { name, typedConfig: anyPack(WasmSchema, wasm) }));
  return { version: createHash("sha256").update(config).digest("hex"), config };
}
