import { create } from "@bufbuild/protobuf";
import {
  clusterRefOf,
  displayName,
  keptText,
  kindKeyOf,
  MAX_RESOURCE_BYTES,
  messageOf,
  parseCompact,
  type Resource,
  ResourceExcess,
  type ResourceRef,
  refOf,
  resourceKeyOf,
} from "@isthmus/core";
import {
  EvidenceSchema,
  type ResourceRef as RefMessage,
  type Rejection as RejectionMessage,
  RejectionSchema,
  type Removal as RemovalMessage,
  RemovalSchema,
  type ResourceBody,
  ResourceRefSchema,
} from "../gen/relay/v1/relay_pb.ts";
import { type DeleteRequest, type DeletionEvidence, PENDING_CODES, type Rejection } from "./link.ts";

/** The protocol of `relay.proto` that this program speaks, and the oldest that it still understands. */
export const PROTOCOL_VERSION = 1;
export const OLDEST_PROTOCOL_VERSION = 1;

/** The feature of a server that takes resources which users write in workload clusters. An older one would mistake them for its own. */
export const USER_RESOURCES = "user-resources";

/** The feature of an end that understands deflated messages. Those are the transport's business: no session ever sees one. */
export const DEFLATE = "deflate";

/** The feature of a server that tells what may be written, and of an agent that holds to it. */
export const MODES = "modes";

/** What this program knows beyond the protocol version. */
export const FEATURES: readonly string[] = ["ask", "resume", "wait", "traces", "notices", USER_RESOURCES, DEFLATE, MODES];

/** Of a message on the wire. Source: decisions §4.7. */
export const MAX_MESSAGE_BYTES = 1024 * 1024;

/** Where a batch ends. Source: stack.md, measured: 64 to 128 KB move the most. */
export const BATCH_BYTES = 96 * 1024;

/** Room that a message needs beside one object's body: its envelope, and a ref of names at their longest. */
export const OVERHEAD_BYTES = 8 * 1024;

/** About what a ref takes in a message, with the framing around it. Its names are ASCII. */
export function refBytes({ apiVersion, kind, name, namespace, clusterName }: ResourceRef): number {
  return 32 + apiVersion.length + kind.length + name.length + namespace.length + clusterName.length;
}

// Findings are shown to people, who stop reading long before; an API server may answer with kilobytes.
const MAX_TEXT = 1024;

/** About what a text takes in a message: at most three bytes for a UTF-16 unit. */
export function textBytes(text: string): number {
  return 3 * Math.min(text.length, MAX_TEXT);
}

// Enough to explain a removal; a Service may have hundreds of Pods.
export const MAX_EVIDENCE_INPUTS = 16;

/** About what a removal takes in a message. */
export function removalBytes({ ref, evidence }: DeleteRequest): number {
  return evidence.inputs.slice(0, MAX_EVIDENCE_INPUTS).reduce((bytes, input) => bytes + refBytes(input), 32 + refBytes(ref));
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** A ref for the wire; `refFrom` is its inverse. */
export function refMessage({ apiVersion, kind, name, namespace, clusterName }: ResourceRef): RefMessage {
  return create(ResourceRefSchema, { apiVersion, kind, name, namespace, clusterName });
}

/** A ref from the wire; a missing one is a ref to nothing, which no check lets pass. */
export function refFrom(message: RefMessage | undefined): ResourceRef {
  const { apiVersion = "", kind = "", name = "", namespace = "", clusterName = "" } = message ?? {};
  return { apiVersion, kind, name, namespace, clusterName };
}

/** The object's JSON in UTF-8, as a `ResourceBody` holds it and `hashOf` hashes it. */
export function bodyOf(resource: Resource): Uint8Array {
  return encoder.encode(JSON.stringify(resource));
}

/** What one body holds: apart, as an object may have any fields. */
export type Received = { readonly resource: Resource } | { readonly problem: string };

/** The object of a body, or what is wrong with it. Its own words must name the object that the ref names. */
export function resourceFrom({ ref: refOnWire, json }: ResourceBody): Received {
  if (json.length > MAX_RESOURCE_BYTES) return { problem: tooLarge(json.length, MAX_RESOURCE_BYTES) };
  let value: unknown;
  try {
    value = parseCompact(decoder.decode(json));
  } catch (error) {
    return { problem: error instanceof ResourceExcess ? error.message : `its content is not JSON: ${messageOf(error)}` };
  }
  if (!isResource(value)) return { problem: "its content is not an object with apiVersion, kind and metadata.name" };
  const ref = refFrom(refOnWire);
  if (resourceKeyOf(refOf(value)) !== resourceKeyOf(ref)) {
    return { problem: `its content is ${kindKeyOf(value)} ${displayName(clusterRefOf(value))}` };
  }
  return { resource: value };
}

function isResource(value: unknown): value is Resource {
  if (typeof value !== "object" || value === null) return false;
  const { apiVersion, kind, metadata } = value as Readonly<Record<string, unknown>>;
  if (typeof metadata !== "object" || metadata === null) return false;
  const { name, namespace = "", clusterName = "" } = metadata as Readonly<Record<string, unknown>>;
  return [apiVersion, kind, name, namespace, clusterName].every((text) => typeof text === "string");
}

/** A rejection for the wire, its message `shortened`. */
export function rejectionMessage({ ref, code, message }: Rejection): RejectionMessage {
  return create(RejectionSchema, { ref: refMessage(ref), code, message: shortened(message) });
}

/** A rejection from the wire. A code that a newer agent invented is a failure; a text of any length is cut. */
export function rejectionFrom({ ref, code, message }: RejectionMessage): Rejection {
  return { ref: refFrom(ref), code: isRejectionCode(code) ? code : "Failed", message: shortened(message) };
}

const REJECTION_CODES: ReadonlySet<string> = new Set<Rejection["code"]>([
  "Conflict",
  "Invalid",
  "Unserved",
  "Failed",
  "Refused",
  "Held",
  "Unconfirmed",
  ...PENDING_CODES,
]);

function isRejectionCode(code: string): code is Rejection["code"] {
  return REJECTION_CODES.has(code);
}

/** A delete for the wire, with the first 16 inputs of its evidence (`MAX_EVIDENCE_INPUTS`); a snapshot of 0 says that none is named. */
export function removalMessage({ ref, evidence }: DeleteRequest): RemovalMessage {
  const inputs = evidence.inputs.slice(0, MAX_EVIDENCE_INPUTS).map(refMessage);
  return create(RemovalSchema, {
    ref: refMessage(ref),
    evidence: create(EvidenceSchema, { reason: evidence.reason, inputs, snapshot: evidence.snapshot ?? 0 }),
  });
}

/** The evidence of a removal, or undefined when there is none that counts. */
export function evidenceFrom({ evidence }: RemovalMessage): DeletionEvidence | undefined {
  if (evidence === undefined || evidence.inputs.length === 0) return undefined;
  const { reason, snapshot } = evidence;
  if (reason !== "InputRemoved" && reason !== "InputChanged") return undefined;
  return { reason, inputs: evidence.inputs.map(refFrom), ...(snapshot === 0 ? {} : { snapshot }) };
}

/** A text of at most 1,024 UTF-16 units: a longer one is cut, and ends with three dots. */
export function shortened(text: string): string {
  return text.length <= MAX_TEXT ? text : `${keptText(text, MAX_TEXT - 3)}...`;
}

/** A size as people read it. */
export function sizeText(bytes: number): string {
  return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / (1024 * 1024)).toFixed(1)} MiB`;
}

/** Why an object cannot travel. */
export function tooLarge(bytes: number, maxMessageBytes: number): string {
  return `is ${sizeText(bytes)} as JSON, but the maximum of a relay message is ${sizeText(maxMessageBytes)}: make it smaller, or split it`;
}
