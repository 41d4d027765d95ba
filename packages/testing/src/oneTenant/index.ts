export * from "./inputs.ts";
export * from "./view.ts";
