/** `804C0C13047F0000:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../deps/…:350:` */
const raw = /[0-9A-F]+:error:[0-9A-F]+:[^:]*:[^:]*:([^:]*):[^:\s]*:\d+:(?:[^\n]*)\n?/gi;

/** The text with what OpenSSL says in words: without its addresses, functions and source files. */
export function withoutOpensslNoise(text: string): string {
  return text.replace(raw, (_all, reason: string) => reason).trimEnd();
}
