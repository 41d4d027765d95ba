/** Topic of the query for access logs; the query and its answer are JSON (`AccessLogQuery` and `AccessLogAnswer` of packages/dataplane). */
export const ACCESS_LOGS_TOPIC = "access-logs";
