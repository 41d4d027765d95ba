export {
  type CrdDefinition,
  type DefinedKind,
  type DefinedResource,
  defineKind,
  type Fields,
  type KindDefinition,
  type PrinterColumn,
  type Value,
} from "./shared/defineKind.ts";
