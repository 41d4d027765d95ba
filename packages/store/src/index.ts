export { type FileStoreOptions, fileStore } from "./file.ts";
export { readFleet, type StoredCluster } from "./fleet.ts";
export { readMembers, type StoredJoinToken, type StoredMembers } from "./members.ts";
export { type MemoryStore, memoryStore, type StoreFaults, type StorePart } from "./memory.ts";
export { type RedisSettings, type RedisStoreOptions, redisStore } from "./redis.ts";
export type { RejectedEntry } from "./rejectedEntries.ts";
export type { StoreKeys } from "./seals.ts";
