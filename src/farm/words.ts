/** Error messages for failures. */
import type { z } from 'zod';
import { issueWords } from '../core/schema-words.js';

/** The first issue of a schema with JSON from outside. */
export function firstIssueWords(error: z.ZodError, json: unknown): string {
  const [issue] = error.issues;
  const key = issue.path.map(String).join('.');
  return `${key === '' ? 'it' : key} ${issueWords(issue, json)}`;
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The contents of a message, or undefined: the server's no-responders reply is empty, and others may send anything. */
export function jsonOf(message: { json(): unknown }): unknown {
  try {
    return message.json();
  } catch {
    return undefined;
  }
}
