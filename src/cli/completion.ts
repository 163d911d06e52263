import { bashCompletion } from './completion-bash.ts';
import { fishCompletion } from './completion-fish.ts';
import { completedCommands } from './completion-model.ts';
import { zshCompletion } from './completion-zsh.ts';
import { type Shell, shells } from './shells.ts';

const texts: Readonly<Record<Shell, typeof bashCompletion>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

/** What a shell has to read to complete the words of this program. The word has been checked. */
export function completionText(word: string | undefined): string {
  const shell = shells.find((name) => name === word);
  return shell === undefined ? '' : texts[shell](completedCommands());
}
