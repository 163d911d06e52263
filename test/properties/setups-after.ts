import { type AccountSetup, keyFiles } from './account-setup.ts';
import { type AccountStep, type Handlers, handle } from './account-steps.ts';

type Setups = readonly AccountSetup[];

const mostAccounts = 3;

/** The accounts after a change of the configuration; the same ones if it cannot be done. */
export function setupsAfter(setups: Setups, step: AccountStep): Setups {
  const chosen = setups['account' in step ? step.account % setups.length : 0];
  if (chosen === undefined) return setups;
  return handle(handlersFor(setups, chosen), step);
}

/** The accounts without one of them, or with one of another key in place of the only one. */
export function setupsWithout(setups: Setups, account: number): Setups {
  const chosen = setups[account % setups.length];
  if (chosen === undefined || setups.length > 1) return setups.filter((one) => one !== chosen);
  const keyFile = keyFiles.find((path) => path !== chosen.keyFile) ?? chosen.keyFile;
  return [{ ...chosen, name: 'stand-in', keyFile }];
}

function handlersFor(setups: Setups, chosen: AccountSetup): Handlers<AccountStep, Setups> {
  const isTaken = (name: string): boolean => setups.some((setup) => setup.name === name);
  const replaced = (after: AccountSetup): Setups =>
    setups.map((setup) => (setup === chosen ? after : setup));
  const mayAdd = (name: string): boolean => !isTaken(name) && setups.length < mostAccounts;
  return {
    reload: ({ set }) =>
      set.name !== undefined && isTaken(set.name) ? setups : replaced({ ...chosen, ...set }),
    take_out: () => (setups.length > 1 ? setups.filter((setup) => setup !== chosen) : setups),
    put_in: ({ name, keyFile }) =>
      mayAdd(name) ? [...setups, { ...chosen, name, keyFile }] : setups,
    split: ({ name }) =>
      mayAdd(name)
        ? [...replaced({ ...chosen, wants: 'even' }), { ...chosen, name, wants: 'odd' }]
        : setups,
    swap_keys: () => {
      const [first, second, ...others] = setups;
      if (first === undefined || second === undefined) return setups;
      return [
        { ...first, keyFile: second.keyFile },
        { ...second, keyFile: first.keyFile },
        ...others,
      ];
    },
  };
}
