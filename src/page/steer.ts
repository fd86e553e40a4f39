/** Sends commands to the telescope and reports their outcome. */
import type { Refused, Steered } from '../serve/messages.js';
import { setToken, token } from './token.js';

export interface Outcome {
  readonly isDone: boolean;
  readonly text: string;
}

const listeners = new Set<(outcome: Outcome) => void>();
/** Registers the display of outcomes. */
export const onOutcome = (listener: (outcome: Outcome) => void): void => {
  listeners.add(listener);
};
const logged = (outcome: Outcome): Outcome => {
  for (const listener of listeners) listener(outcome);
  return outcome;
};

let ask: () => Promise<string | undefined> = () => Promise.resolve(undefined);
/** Registers the prompt for a missing token. */
export const askTokenBy = (by: typeof ask): void => {
  ask = by;
};

/** Sends a command; asks for the token if there is none or it is refused. */
export async function steer(name: string, body: object): Promise<Outcome> {
  const known = token() ?? (await askToken());
  if (known === undefined) return logged({ isDone: false, text: 'Without the token nothing is changed.' });
  try {
    const response = await fetch(`/api/v1/${name}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${known}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as Steered & Refused;
    if (response.status === 401) {
      sessionStorage.clear();
      return logged({ isDone: false, text: 'That token is not the one that corella printed.' });
    }
    if (!response.ok)
      return logged({
        isDone: false,
        text: `${answer.where}: ${answer.what}${answer.fix === undefined ? '' : `. ${answer.fix}`}`,
      });
    return logged({
      isDone: true,
      text: answer.fromTick
        ? `Takes effect at tick ${answer.fromTick}, ${answer.from.slice(11, 23)} UTC`
        : 'Done',
    });
  } catch {
    return logged({ isDone: false, text: 'The server does not answer.' });
  }
}

async function askToken(): Promise<string | undefined> {
  const given = await ask();
  if (given === undefined || given.trim() === '') return undefined;
  setToken(given);
  return token();
}
