/** The path of the script. */
export const scriptPath = '/status.js';

/** How often a page that is looked at asks for itself again. */
export const refreshSeconds = 10;

/**
 * Keeps a page up to date: asks for the same address again, and changes in place what has changed, so
 * that focus, selection, scrolling and open details stay. Forms are left alone. It is for browsers and
 * is not compiled; without it the page has a link in its place.
 */
export const refreshScript = `'use strict';
(() => {
  const seconds = Number(document.currentScript.dataset.seconds);
  const bar = document.getElementById('refresh');
  const status = bar.querySelector('span');
  const button = document.createElement('button');
  button.type = 'button';
  bar.append(button);
  let paused = false;
  let timer;
  let failedSince;
  let asking = false;

  const keyOf = (node) => (node.nodeType === 1 ? node.getAttribute('data-key') : null);

  function morphAttributes(from, to) {
    for (const { name } of [...from.attributes]) {
      // Whether details are open is up to who reads them.
      if (!to.hasAttribute(name) && name !== 'open') from.removeAttribute(name);
    }
    for (const { name, value } of to.attributes) {
      if (from.getAttribute(name) !== value) from.setAttribute(name, value);
    }
  }

  function morphChildren(from, to) {
    const keyed = new Map();
    for (const child of from.children) if (keyOf(child) !== null) keyed.set(keyOf(child), child);
    let at = from.firstChild;
    for (const wanted of [...to.childNodes]) {
      const key = keyOf(wanted);
      const known = key === null ? at : keyed.get(key);
      const fits = known && known.nodeName === wanted.nodeName && keyOf(known) === key;
      if (!fits) {
        from.insertBefore(document.importNode(wanted, true), at);
        continue;
      }
      if (known === at) at = at.nextSibling;
      else from.insertBefore(known, at);
      morph(known, wanted);
    }
    while (at) {
      const next = at.nextSibling;
      at.remove();
      at = next;
    }
  }

  function morph(from, to) {
    if (from.nodeType !== 1) {
      if (from.data !== to.data) from.data = to.data;
      return;
    }
    morphAttributes(from, to);
    if (!from.hasAttribute('data-keep')) morphChildren(from, to);
  }

  function show(text) {
    const next = new DOMParser().parseFromString(text, 'text/html');
    const focused = document.activeElement;
    for (const part of ['main', 'title', 'link[rel=icon]']) {
      morph(document.querySelector(part), next.querySelector(part));
    }
    // An element that is moved loses the focus.
    if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
  }

  function tell() {
    button.textContent = paused ? 'Resume' : 'Pause';
    status.className = failedSince ? 'bad' : '';
    const text = failedSince
      ? 'No answer since ' + failedSince.toISOString().slice(11, 19) + ' UTC: what you see is older.'
      : paused ? 'Paused.' : 'Refreshes every ' + seconds + ' s.';
    if (status.textContent !== text) status.textContent = text;
  }

  async function refresh() {
    if (asking) return;
    asking = true;
    try {
      const response = await fetch(location.href, {
        cache: 'no-store',
        headers: { Accept: 'text/html' },
        signal: AbortSignal.timeout(seconds * 1000),
      });
      const text = await response.text();
      // The page of an application that is gone says so, with a 404.
      if (!/text\\/html/.test(response.headers.get('Content-Type'))) throw new Error(response.status);
      if (!paused) show(text);
      failedSince = undefined;
    } catch {
      failedSince ??= new Date();
    }
    asking = false;
    tell();
  }

  function restart(event) {
    clearInterval(timer);
    const runs = !paused && !document.hidden;
    timer = runs ? setInterval(refresh, seconds * 1000) : undefined;
    tell();
    if (runs && event) refresh();
  }

  button.addEventListener('click', (event) => {
    paused = !paused;
    restart(event);
  });
  document.addEventListener('visibilitychange', restart);
  restart();
})();
`;
