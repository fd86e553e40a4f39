/** Escapes text for a terminal. Text from files, names and the network could contain terminal commands. */

/** Control characters except line ends and tabs, and marks that change the text direction. */
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Control characters as \x1b or \u202e. */
export const escaped = (text: string): string =>
  text.replace(CONTROL, (one) => {
    const code = one.charCodeAt(0);
    return code < 256
      ? `\\x${code.toString(16).padStart(2, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`;
  });
