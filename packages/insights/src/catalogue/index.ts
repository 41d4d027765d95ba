export { codeAnchor, EXPLAINED_CODES, type ExplainedCode, explainedCode, severityText } from "./catalogue.ts";
