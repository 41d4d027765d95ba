import type { FieldError } from "./apiError.ts";

/** The value is of the right type and still none that may be there. */
export function invalid(field: string, value: unknown, problem: string): FieldError {
  return { reason: "FieldValueInvalid", field, message: `Invalid value: ${goText(value)}${problem === "" ? "" : `: ${problem}`}` };
}

/** The field must be there. */
export function required(field: string, problem = ""): FieldError {
  return { reason: "FieldValueRequired", field, message: problem === "" ? "Required value" : `Required value: ${problem}` };
}

/** The value is there twice. */
export function duplicate(field: string, value: unknown): FieldError {
  return { reason: "FieldValueDuplicate", field, message: `Duplicate value: ${goText(value)}` };
}

/** The value is none of those that there are. */
export function unsupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const list = [...supported].sort().map((each) => JSON.stringify(each));
  return { reason: "FieldValueNotSupported", field, message: `Unsupported value: ${goText(value)}: supported values: ${list.join(", ")}` };
}

/** The same, of values that have an order of their own. */
export function unsupportedOf(field: string, value: unknown, supported: readonly string[]): FieldError {
  const list = supported.map((each) => JSON.stringify(each));
  return { reason: "FieldValueNotSupported", field, message: `Unsupported value: ${goText(value)}: supported values: ${list.join(", ")}` };
}

/** The field must not be there, or must not change. */
export function forbidden(field: string, problem: string): FieldError {
  return { reason: "FieldValueForbidden", field, message: `Forbidden: ${problem}` };
}

/** The value names something that is not there. */
export function notFoundField(field: string, value: unknown): FieldError {
  return { reason: "FieldValueNotFound", field, message: `Not found: ${goText(value)}` };
}

/** The value is too long. */
export function tooLong(field: string, most: number): FieldError {
  return { reason: "FieldValueTooLong", field, message: `Too long: may not be more than ${most} bytes` };
}

/** The value is of another type. */
export function typeInvalid(field: string, value: unknown, problem: string): FieldError {
  return { reason: "FieldValueTypeInvalid", field, message: `Invalid value: ${goText(value)}: ${problem}` };
}

function goText(value: unknown): string {
  return value === undefined ? "null" : JSON.stringify(value);
}
