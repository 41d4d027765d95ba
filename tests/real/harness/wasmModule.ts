import wabt from "wabt";

/** A module that adds the response header `x-wasm-filter`: what it is configured with, else `on`. Source: proxy-wasm ABI 0.2.1. */
export async function headerModule(): Promise<Uint8Array> {
  const { parseWat } = await wabt();
  const module = parseWat("header.wat", HEADER);
  try {
    return module.toBinary({}).buffer;
  } finally {
    module.destroy();
  }
}

/** The same module with so many bytes more, of a custom section that nobody reads. Source: WebAssembly, “Binary Format”. */
export function padded(module: Uint8Array, bytes: number): Uint8Array {
  const content = [1, "x".charCodeAt(0)];
  const size = bytes + content.length;
  // LEB128 in five bytes.
  const length = [0, 7, 14, 21, 28].map((shift, i) => ((size >>> shift) & 0x7f) | (i < 4 ? 0x80 : 0));
  return Buffer.concat([module, Buffer.from([0, ...length, ...content]), Buffer.alloc(bytes)]);
}

const HEADER = `
(module
  (import "env" "proxy_add_header_map_value" (func $add (param i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_get_buffer_bytes" (func $read (param i32 i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (global $free (mut i32) (i32.const 4096))
  (global $value (mut i32) (i32.const 64))
  (global $length (mut i32) (i32.const 2))
  (data (i32.const 16) "x-wasm-filter")
  (data (i32.const 64) "on")
  (func (export "proxy_abi_version_0_2_1"))
  (func (export "proxy_on_memory_allocate") (param $bytes i32) (result i32)
    (local $start i32)
    (local.set $start (global.get $free))
    (global.set $free (i32.and (i32.add (i32.add (local.get $start) (local.get $bytes)) (i32.const 15)) (i32.const -16)))
    (local.get $start))
  (func (export "proxy_on_context_create") (param i32 i32))
  (func (export "proxy_on_vm_start") (param i32 i32) (result i32) (i32.const 1))
  (func (export "proxy_on_configure") (param $context i32) (param $bytes i32) (result i32)
    (if (i32.gt_u (local.get $bytes) (i32.const 0))
      (then
        (drop (call $read (i32.const 7) (i32.const 0) (local.get $bytes) (i32.const 32) (i32.const 36)))
        (global.set $value (i32.load (i32.const 32)))
        (global.set $length (i32.load (i32.const 36)))))
    (i32.const 1))
  (func (export "proxy_on_response_headers") (param i32 i32 i32) (result i32)
    (drop (call $add (i32.const 2) (i32.const 16) (i32.const 13) (global.get $value) (global.get $length)))
    (i32.const 0)))
`;
