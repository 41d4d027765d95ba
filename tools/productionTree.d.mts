/** Writes the production tree of an app to a folder that is empty or not there. */
export function writeProductionTree(app: string, folder: string): Promise<void>;
