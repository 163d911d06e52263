type Scalar = string | number | boolean | null | undefined;

/** What Grafana reads: plain JSON. Fields that are `undefined` are left out. */
export type Json = Scalar | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };
