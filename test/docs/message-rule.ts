import { codeWordsIn, withoutCodeBlocks } from './markdown.ts';

/** A setting such as `hosts: self`, or a command. */
const notAMessage = /^(?:[a-z_]+: |newrelic-exporter |npm |npx )/;

/** What a text quotes of the log: words in backticks that read as a sentence. */
export function messagesQuotedIn(text: string): readonly string[] {
  const prose = withoutCodeBlocks(text).replaceAll(/\s*\n\s*/g, ' ');
  return codeWordsIn(prose).filter(
    (word) => /^[a-z][a-z',: -]* [a-z',: -]*[a-z]$/i.test(word) && !notAMessage.test(word),
  );
}
