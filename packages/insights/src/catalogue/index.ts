export { EXPLAINED_CODES, type ExplainedCode, explainedCode } from "./catalogue.ts";
