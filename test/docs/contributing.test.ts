import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { repositoryUrl } from '../../src/model/shown-text.ts';
import { groupOf } from '../support/test-groups.ts';
import { complaintAbout, runsIn, shellCommandsIn } from './command-rule.ts';
import { projectFolder, readDocument } from './documents.ts';
import { anchorsOf, brokenLinksOf } from './link-rule.ts';

const exists = (path: string): boolean => existsSync(join(projectFolder, path));
const words = z.string().trim().min(1);
const list = z.array(words).min(1);

/** The forms of issues as GitHub documents them: what each kind of field needs and may have. */
const validations = z.strictObject({ required: z.boolean() }).exactOptional();
const field = {
  id: z.string().regex(/^[\w-]+$/u),
  validations,
} as const;
const texts = {
  label: words,
  description: words.exactOptional(),
  placeholder: words.exactOptional(),
  value: words.exactOptional(),
} as const;
const formField = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('markdown'), attributes: z.strictObject({ value: words }) }),
  z.strictObject({ type: z.literal('input'), ...field, attributes: z.strictObject(texts) }),
  z.strictObject({
    type: z.literal('textarea'),
    ...field,
    attributes: z.strictObject({ ...texts, render: z.enum(['text', 'yaml']).exactOptional() }),
  }),
  z.strictObject({
    type: z.literal('dropdown'),
    ...field,
    attributes: z.strictObject({
      label: words,
      description: words.exactOptional(),
      // GitHub adds "None" itself where no answer is required.
      options: list.refine((all) => new Set(all).size === all.length && !all.includes('None')),
    }),
  }),
  z.strictObject({
    type: z.literal('checkboxes'),
    ...field,
    attributes: z.strictObject({
      label: words,
      options: z.array(z.strictObject({ label: words, required: z.boolean() })).min(1),
    }),
  }),
]);
const issueForm = z.strictObject({
  name: words,
  description: words,
  // Those that each new repository has.
  labels: z.array(z.enum(['bug', 'enhancement'])),
  body: z.array(formField).min(1),
});
const chooser = z.strictObject({
  blank_issues_enabled: z.boolean(),
  contact_links: z.array(z.strictObject({ name: words, url: z.httpUrl(), about: words })),
});

const folder = '.github/ISSUE_TEMPLATE';
const forms = readdirSync(join(projectFolder, folder))
  .filter((name) => name !== 'config.yml')
  .map((name) => {
    const { text } = readDocument(`${folder}/${name}`);
    return { name, text, form: issueForm.parse(parse(text)) };
  });

/** All texts in a value of YAML, at any depth. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

describe.each(forms)('the form for issues $name', ({ form }) => {
  const fields = form.body.filter((one) => one.type !== 'markdown');

  it('has a label and an id of its own for each field', () => {
    expect(fields.length).toBeGreaterThan(0);
    expect(new Set(fields.map(({ id }) => id)).size).toBe(fields.length);
    expect(new Set(fields.map(({ attributes }) => attributes.label)).size).toBe(fields.length);
  });

  it('names only commands and flags that there are, and warns of keys', () => {
    const all = textsIn(form).join('\n\n');
    const runs = runsIn(all);

    expect(runs.map(complaintAbout).filter((complaint) => complaint !== undefined)).toEqual([]);
    expect(all).toMatch(/(?:never|not) paste an? API keys?|not paste API keys/iu);
  });
});

describe('the forms for issues', () => {
  const runsOf = (name: string): readonly string[] =>
    textsIn(forms.find((one) => one.name === name)?.form)
      .flatMap(runsIn)
      .map(({ arguments: parts }) => parts.join(' '));
  const requiredIn = (name: string): readonly string[] =>
    (forms.find((one) => one.name === name)?.form.body ?? []).flatMap((one) =>
      one.type !== 'markdown' && one.validations?.required === true ? [one.id] : [],
    );

  it('have different names', () => {
    expect(new Set(forms.map(({ form }) => form.name)).size).toBe(3);
  });

  it('ask for what a mistake can be found with', () => {
    expect(requiredIn('bug.yml')).toEqual(['version', 'runs', 'source', 'happens', 'check', 'log']);
    expect(requiredIn('values.yml')).toEqual([
      'version',
      'source',
      'metric',
      'shown',
      'expected',
      'entry',
      'check',
    ]);
    for (const name of ['bug.yml', 'values.yml']) {
      expect(runsOf(name)).toEqual(expect.arrayContaining(['--version', 'check-config --online']));
    }
  });

  it.each([
    { change: { description: undefined } },
    { change: { body: undefined } },
    { change: { body: [{ type: 'input', id: 'a', attributes: {} }] } },
    {
      change: {
        body: [{ type: 'dropdown', id: 'a', attributes: { label: 'A', options: ['b', 'b'] } }],
      },
    },
    { change: { body: [{ type: 'checkboxes', id: 'a', attributes: { label: 'A' } }] } },
    { change: { body: [{ type: 'number', id: 'a', attributes: { label: 'A' } }] } },
    { change: { titel: 'a' } },
  ])('would not be accepted with $change', ({ change }) => {
    expect(issueForm.safeParse({ ...forms[0]?.form, ...change }).success).toBe(false);
  });
});

/** What is below the repository: a file or folder with an anchor, or a page of GitHub. */
const ownPages = new Set(['security/advisories/new', 'issues/new/choose']);

function brokenAddressesIn(text: string): readonly string[] {
  return [...text.matchAll(/https:\/\/github\.com\/[^\s)>'"]+/gu)]
    .map(([address]) => address)
    .filter((address) => {
      if (!address.startsWith(`${repositoryUrl}/`)) return true;
      const below = address.slice(repositoryUrl.length + 1);
      if (ownPages.has(below)) return false;
      const [path = '', anchor] = below.replace(/^blob\/main\//u, '').split('#');
      if (path === below || !exists(path)) return true;
      return anchor !== undefined && !anchorsOf(readDocument(path).text).has(anchor);
    });
}

describe('what GitHub shows to contributors', () => {
  const files = [...forms.map(({ name }) => `${folder}/${name}`), `${folder}/config.yml`];

  it.each([...files, 'CONTRIBUTING.md'])('leads to what is there: %s', (path) => {
    expect(brokenAddressesIn(readDocument(path).text)).toEqual([]);
  });

  it('offers other ways than an issue, one of them private', () => {
    const read = chooser.parse(parse(readDocument(`${folder}/config.yml`).text));

    expect(read.blank_issues_enabled).toBe(false);
    expect(read.contact_links.map(({ url }) => url)).toContain(
      `${repositoryUrl}/security/advisories/new`,
    );
  });

  it.each(['.github/SECURITY.md', '.github/pull_request_template.md'])(
    'has no broken link and no wrong command: %s',
    (path) => {
      const document = readDocument(path);

      expect(brokenLinksOf(document, [], exists)).toEqual([]);
      expect(runsIn(document.text).flatMap((run) => complaintAbout(run) ?? [])).toEqual([]);
    },
  );

  it('names owners of the owner of the repository', () => {
    const owner = new URL(repositoryUrl).pathname.split('/')[1];
    const rules = readDocument('.github/CODEOWNERS')
      .text.split('\n')
      .filter((line) => /^[^#]/u.test(line));

    expect(rules.map((line) => line.split(' ')[0])).toContain('*');
    expect(rules.filter((line) => !line.includes(` @${owner}/`))).toEqual([]);
  });

  it('begins with the two commands, in a guide of one page', () => {
    const { text } = readDocument('CONTRIBUTING.md');
    const [install, demo, , test] = shellCommandsIn(text).map((parts) => parts.join(' '));

    expect([install, demo, test]).toEqual(['npm ci', 'npm run demo', 'npm test']);
    expect(text.split(/\s+/u).length).toBeLessThan(600);
  });
});

describe('npm run generate', () => {
  it('writes every file of which a test of npm test holds that it is made from the code', () => {
    const making = readdirSync(join(projectFolder, 'test'), { recursive: true, encoding: 'utf8' })
      .map((name) => `test/${name}`)
      .filter((path) => path.endsWith('.test.ts') && groupOf(path) === 'quick')
      .filter((path) => /\)\.toMatchFileSnapshot\(/u.test(readDocument(path).text));
    const { scripts } = z
      .object({ scripts: z.object({ generate: z.string() }) })
      .parse(JSON.parse(readDocument('package.json').text));

    expect(making.length).toBeGreaterThan(8);
    expect(scripts.generate.match(/test\/\S+/gu)?.toSorted()).toEqual(making.toSorted());
  });
});
