// Draws the document that the page carries. Every foreign text gets in as text (textContent), never as markup.
(function () {
  'use strict';
  const doc = JSON.parse(document.getElementById('document').textContent);
  const answers = JSON.parse(document.getElementById('answers').textContent);
  const rest = '(unattributed / system)';
  const kinds = [['file', 'file'], ['resident', 'resident'], ['private', 'private']];
  const byId = new Map(doc.nodes.map((node) => [node.id, node]));
  const isLibrary = (node) => (node.kind === 'library' || node.kind === 'loader') && node.path !== null;
  const libraries = doc.nodes.filter((node) => isLibrary(node) && (node.loaded || doc.process === null));
  const state = { bytes: 'file', search: '', selected: null };

  function size(bytes) {
    if (bytes === null || bytes === undefined) return '-';
    const units = ['B', 'KB', 'MB', 'GB', 'TB'];
    let at = 0;
    let value = bytes;
    while (value >= 1024 && at < units.length - 1) { value /= 1024; at += 1; }
    return (at === 0 ? value : value.toFixed(at >= 3 ? 2 : 1)) + ' ' + units[at];
  }
  function bytesOf(node) {
    return state.bytes === 'file' ? node.size : node[state.bytes];
  }
  function element(name, text, className) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  }
  function section(id) { return document.querySelector('#' + id); }
  function matches(text) { return text.toLowerCase().includes(state.search); }
  const haystack = new Map(libraries.map((node) =>
    [node.id, [node.id, node.name, node.path, node.soname].concat(node.sources).join(' ').toLowerCase()]));
  function isFound(node) { return (haystack.get(node.id) || node.name.toLowerCase()).includes(state.search); }

  // Colours by package: as far apart as there are names, the rest grey. The same name has the same colour everywhere.
  const colour = (function () {
    const names = doc.packages.map((one) => one.name).filter((name) => name !== rest);
    const hue = new Map(names.map((name, i) => [name, (i * 137.508) % 360]));
    return (name) => (hue.has(name) ? d3.hsl(hue.get(name), 0.55, 0.68).toString() : '#aab2bb');
  })();
  const ownerOf = (node) => (node.sources.length === 0 ? rest : node.sources[0]);

  // --- what stands at the top

  function header() {
    const program = doc.interpreter ? doc.interpreter.split('/').pop() : '';
    section('title').textContent = 'tracso · ' + doc.target + (program && program !== doc.target ? ' (' + program + ')' : '');
    const totals = doc.totals;
    const facts = [totals.libraries + ' libraries', size(totals.file_bytes) + ' of files'];
    if (totals.resident_bytes !== null) facts.push(size(totals.resident_bytes) + ' resident');
    if (totals.private_bytes !== null) facts.push(size(totals.private_bytes) + ' private');
    if (doc.process && doc.process.python) facts.push(doc.process.python.implementation + ' ' + doc.process.python.version);
    if (doc.command) {
      facts.push(doc.command.argv.join(' '));
      facts.push(doc.command.signal !== null ? 'killed by signal ' + doc.command.signal : 'exit ' + doc.command.exit_status);
    }
    section('facts').textContent = facts.join(' · ');
    doc.notices.forEach((notice) => section('notices').append(element('li', notice.text + (notice.effect ? '; ' + notice.effect : ''))));
    kinds.forEach(([key, word]) => {
      const button = element('button', word);
      button.type = 'button';
      button.dataset.bytes = key;
      button.disabled = key !== 'file' && !libraries.some((node) => node[key] !== null && node[key] !== undefined);
      if (button.disabled) button.title = 'not measured';
      button.addEventListener('click', () => { state.bytes = key; drawAll(); });
      section('bytes').append(button);
    });
    section('search').addEventListener('input', (event) => { state.search = event.target.value.trim().toLowerCase(); drawAll(); });
    section('footer').textContent = 'tracso ' + doc.version + ' · the document in this page is that of --json, schema ' + doc.schema;
  }

  function findings() {
    const place = document.querySelector('#findings div');
    if (doc.findings.length === 0) {
      place.append(element('p', 'None.', 'note'));
    }
    doc.findings.forEach((finding) => {
      const card = element('div', undefined, 'finding ' + finding.severity);
      const title = element('p');
      title.append(element('strong', finding.severity + ' '), finding.title, ' ', element('span', finding.code, 'note'));
      card.append(title);
      const shown = 5;
      finding.evidence.slice(0, shown).forEach((text) => card.append(element('p', text, 'what')));
      if (finding.evidence.length > shown) {
        const more = element('details');
        more.append(element('summary', '... and ' + (finding.evidence.length - shown) + ' more', 'what'));
        finding.evidence.slice(shown).forEach((text) => more.append(element('p', text, 'what')));
        card.append(more);
      }
      if (finding.what_to_do) card.append(element('p', 'try: ' + finding.what_to_do, 'what'));
      finding.nodes.filter((id) => haystack.has(id)).slice(0, 8).forEach((id) => {
        const link = element('button', id);
        link.type = 'button';
        link.addEventListener('click', () => select(id));
        card.append(link, ' ');
      });
      place.append(card);
    });
  }

  // --- treemap: packages, and in them their parts of libraries (equal parts of what several reach)

  function treemapData() {
    const groups = new Map();
    libraries.forEach((node) => {
      const bytes = bytesOf(node);
      const owners = node.sources.length === 0 ? [rest] : node.sources;
      owners.forEach((owner) => {
        if (!groups.has(owner)) groups.set(owner, []);
        groups.get(owner).push({ node, value: (bytes || 0) / owners.length, shared: owners.length });
      });
    });
    return { children: Array.from(groups, ([name, children]) => ({ name, children })) };
  }

  function treemap() {
    const place = document.querySelector('#map .chart');
    const width = Math.max(place.clientWidth, 320);
    const height = 420;
    const root = d3.hierarchy(treemapData()).sum((d) => d.value || 0).sort((a, b) => b.value - a.value);
    d3.treemap().size([width, height]).paddingOuter(2).paddingTop(16).paddingInner(1).round(true)(root);
    place.textContent = '';
    const svg = d3.select(place).append('svg').attr('viewBox', '0 0 ' + width + ' ' + height).attr('role', 'img');
    const groups = svg.selectAll('g.group').data(root.children || []).enter().append('g').attr('class', 'group');
    groups.append('rect').attr('x', (d) => d.x0).attr('y', (d) => d.y0).attr('width', (d) => d.x1 - d.x0)
      .attr('height', (d) => d.y1 - d.y0).attr('fill', 'none').attr('stroke', 'var(--line)');
    groups.append('text').attr('x', (d) => d.x0 + 4).attr('y', (d) => d.y0 + 12)
      .text((d) => fitting(d.data.name + '  ' + size(d.value), (d.x1 - d.x0 - 6) * 0.88));  // bold is wider
    const tiles = svg.selectAll('g.tile').data(root.leaves().filter((d) => d.value > 0 && d.data.node)).enter().append('g')
      .attr('class', (d) => 'tile' + classOf(d.data.node)).attr('data-id', (d) => d.data.node.id);
    tiles.append('rect').attr('x', (d) => d.x0).attr('y', (d) => d.y0).attr('width', (d) => d.x1 - d.x0)
      .attr('height', (d) => d.y1 - d.y0).attr('fill', (d) => colour(d.parent.data.name));
    tiles.append('text').attr('x', (d) => d.x0 + 3).attr('y', (d) => d.y0 + 12)
      .text((d) => (d.y1 - d.y0 < 14 ? '' : fitting(d.data.node.name, d.x1 - d.x0 - 5)));
    tiles.append('title').text((d) => d.data.node.name + '\n' + size(bytesOf(d.data.node)) +
      (d.data.shared > 1 ? ', shared by ' + d.data.shared + ' packages' : '') + '\n' + d.data.node.path);
    tiles.each(function (d) { this.addEventListener('click', () => select(d.data.node.id)); });
    const unknown = libraries.filter((node) => bytesOf(node) === null).length;
    section('map-note').textContent = size(root.value) + ' of ' + state.bytes + ' bytes; a library that several packages reach is split among them' +
      (unknown ? '; ' + unknown + ' not measured' : '');
  }

  function fitting(text, width) {
    const letters = Math.floor(width / 6.3);
    return letters < 3 ? '' : text.length <= letters ? text : text.slice(0, letters - 1) + '…';
  }
  function classOf(node) {
    return (state.search && !isFound(node) ? ' dim' : '') + (node.id === state.selected ? ' selected' : '');
  }

  // --- tables

  function table(place, columns, rows, onClick, first) {
    const made = place.sorted || { column: first, down: true };
    place.sorted = made;
    const sorted = rows.slice();
    if (made.column !== null) {
      const value = columns[made.column].value;
      sorted.sort((a, b) => {
        const left = value(a);
        const right = value(b);
        const order = typeof left === 'number' || typeof right === 'number' ? (left === null ? -1 : left) - (right === null ? -1 : right)
          : String(left).localeCompare(String(right));
        return made.down ? -order : order;
      });
    }
    const head = element('tr');
    columns.forEach((column, i) => {
      const cell = element('th', column.title + (made.column === i ? (made.down ? ' ▼' : ' ▲') : ''), column.number ? 'number' : '');
      cell.addEventListener('click', () => {
        place.sorted = { column: i, down: made.column === i ? !made.down : Boolean(column.number) };
        table(place, columns, rows, onClick, first);
      });
      head.append(cell);
    });
    const body = element('tbody');
    sorted.forEach((row) => {
      const line = element('tr');
      if (row.id) line.dataset.id = row.id;
      if (row.id && row.id === state.selected) line.className = 'selected';
      columns.forEach((column) => {
        const value = column.value(row);
        const cell = element('td', column.show ? column.show(value) : value, (column.number ? 'number' : '') + ' ' + (column.style || ''));
        if (column.whole) cell.title = value;
        line.append(cell);
      });
      line.addEventListener('click', () => onClick(row));
      body.append(line);
    });
    const whole = element('table');
    const top = element('thead');
    top.append(head);
    whole.append(top, body);
    place.textContent = '';
    place.append(whole);
  }

  const costColumns = [
    { title: 'file', number: true, value: (row) => row.file, show: size },
    { title: 'resident', number: true, value: (row) => row.resident, show: size },
    { title: 'private', number: true, value: (row) => row.private, show: size }];

  function tables() {
    const packages = doc.packages.filter((one) => matches(one.name + ' ' + (one.distribution || '')))
      .map((one) => ({ name: one.name, distribution: one.distribution || '', libraries: one.libraries, file: one.file_bytes,
        resident: one.resident_bytes, private: one.private_bytes, share: one.share }));
    table(document.querySelector('#packages .scroll'),
      [{ title: 'package', style: 'name', value: (row) => row.name }, { title: 'distribution', value: (row) => row.distribution },
        { title: 'libs', number: true, value: (row) => row.libraries }].concat(costColumns,
        [{ title: 'share', number: true, value: (row) => row.share, show: (share) => (share * 100).toFixed(1) + '%' }]),
      packages, (row) => { section('search').value = row.name === rest ? '' : row.name; state.search = section('search').value.toLowerCase(); drawAll(); }, 3);
    const found = libraries.filter(isFound);
    table(document.querySelector('#libraries .scroll'),
      [{ title: 'library', style: 'name', value: (row) => row.name }, { title: 'owners', style: 'name', value: (row) => row.owners, whole: true,
          show: (owners) => { const names = owners.split(', '); return names[0] + (names.length > 1 ? ' +' + (names.length - 1) : ''); } }].concat(costColumns,
        [{ title: 'in', number: true, value: (row) => row.in }, { title: 'out', number: true, value: (row) => row.out },
          { title: 'state', style: 'warn', value: (row) => row.state }, { title: 'path', style: 'path', value: (row) => row.path }]),
      found.map((node) => ({ id: node.id, name: node.name, owners: node.sources.join(', ') || rest, file: node.size, resident: node.resident,
        private: node.private, in: node.in_degree, out: node.out_degree, state: node.state === 'current' ? '' : node.state, path: node.path })),
      (row) => select(row.id), 2);
    section('found').textContent = state.search ? found.length + ' of ' + libraries.length + ' libraries' : '';
  }

  // --- graph: columns by distance from the target, each ordered by its neighbours

  const tooMany = 260;
  const isSystem = (node) => isLibrary(node) && (node.kind === 'loader' || node.baseline || node.sources.length === 0 || /^(ld-|libc\.|libm\.|libdl\.|libpthread\.|librt\.|libgcc_s\.|libstdc\+\+\.|libz\.)/.test(node.name));
  const effects = new Map();
  const causes = new Map();
  doc.edges.forEach((edge) => {
    if (!effects.has(edge.source)) effects.set(edge.source, []);
    if (!causes.has(edge.target)) causes.set(edge.target, []);
    effects.get(edge.source).push(edge);
    causes.get(edge.target).push(edge);
  });

  function around(id) {
    const kept = new Set([id]);
    [[causes, 'source'], [effects, 'target']].forEach(([map, end]) => {
      let front = [id];
      for (let step = 0; step < 8 && kept.size < tooMany; step += 1) {
        const next = [];
        front.forEach((one) => (map.get(one) || []).forEach((edge) => {
          if (!kept.has(edge[end]) && kept.size < tooMany) { kept.add(edge[end]); next.push(edge[end]); }
        }));
        front = next;
      }
    });
    return kept;
  }

  function graphNodes() {
    const near = section('near').checked && state.selected;
    const kept = near ? around(state.selected) : null;
    const folded = section('fold').checked;
    const nodes = doc.nodes.filter((node) => (!kept || kept.has(node.id)) && (!folded || !isSystem(node) || node.id === state.selected));
    return { nodes: nodes.slice(0, tooMany), left: nodes.length - Math.min(nodes.length, tooMany), folded: doc.nodes.length - nodes.length };
  }

  function layers(nodes) {
    const kept = new Set(nodes.map((node) => node.id));
    const depth = new Map();
    let front = nodes.filter((node) => !(causes.get(node.id) || []).some((edge) => kept.has(edge.source))).map((node) => node.id);
    if (front.length === 0 && nodes.length > 0) front = [nodes[0].id];
    for (let level = 0; front.length > 0; level += 1) {
      front.forEach((id) => depth.set(id, level));
      const next = new Set();
      front.forEach((id) => (effects.get(id) || []).forEach((edge) => { if (kept.has(edge.target) && !depth.has(edge.target)) next.add(edge.target); }));
      front = Array.from(next);
    }
    nodes.forEach((node) => { if (!depth.has(node.id)) depth.set(node.id, 0); });
    const columns = [];
    nodes.forEach((node) => { const at = depth.get(node.id); (columns[at] = columns[at] || []).push(node.id); });
    const row = new Map();
    const number = () => columns.forEach((ids) => ids.forEach((id, i) => row.set(id, i / ids.length)));
    number();
    for (let sweep = 0; sweep < 6; sweep += 1) {
      columns.forEach((ids) => {
        const place = new Map(ids.map((id) => {
          const near = (causes.get(id) || []).map((edge) => edge.source).concat((effects.get(id) || []).map((edge) => edge.target)).filter((other) => row.has(other));
          return [id, near.length === 0 ? row.get(id) : d3.mean(near, (other) => row.get(other))];
        }));
        ids.sort((a, b) => place.get(a) - place.get(b));
        ids.forEach((id, i) => row.set(id, i / ids.length));
      });
    }
    return columns;
  }

  function graph() {
    const place = document.querySelector('#graph .chart');
    const { nodes, left, folded } = graphNodes();
    const columns = layers(nodes);
    const at = new Map();
    const pitch = 17;
    const tallest = d3.max(columns, (ids) => (ids ? ids.length : 0)) || 1;
    columns.forEach((ids, x) => (ids || []).forEach((id, y) => at.set(id, { x: 20 + x * 250, y: 16 + (y + (tallest - ids.length) / 2) * pitch })));
    const edges = doc.edges.filter((edge) => at.has(edge.source) && at.has(edge.target));
    place.textContent = '';
    const wanted = { width: columns.length * 250 + 40, height: tallest * pitch + 32 };
    const width = Math.max(place.clientWidth, 320);
    const scale = Math.min(1, Math.max(0.5, width / wanted.width));
    const svg = d3.select(place).append('svg').style('height', Math.max(120, Math.min(560, wanted.height * scale)) + 'px');
    const inside = svg.append('g');
    const line = d3.linkHorizontal().x((d) => d.x).y((d) => d.y);
    inside.selectAll('path').data(edges).enter().append('path')
      .attr('class', (edge) => 'edge' + (edge.source === state.selected || edge.target === state.selected ? ' near' : ''))
      .attr('stroke-dasharray', (edge) => (edge.kind === 'dlopen' ? '4 3' : null))
      .attr('d', (edge) => line({ source: at.get(edge.source), target: at.get(edge.target) }))
      .append('title').text((edge) => edge.source + ' → ' + edge.target + '\n' + edge.kind + (edge.rule ? ', ' + edge.rule : ''));
    const marks = inside.selectAll('g').data(nodes).enter().append('g').attr('class', (node) => 'node' + classOf(node)).attr('data-id', (node) => node.id)
      .attr('transform', (node) => 'translate(' + at.get(node.id).x + ',' + at.get(node.id).y + ')');
    marks.append('circle').attr('r', 4.5).attr('fill', (node) => (isLibrary(node) ? colour(ownerOf(node)) : node.kind === 'module' ? colour(node.id) : 'var(--text)'));
    marks.append('text').attr('x', 8).attr('y', 4).text((node) => fitting(node.id, 220));
    marks.append('title').text((node) => node.path || node.id);
    marks.each(function (node) { this.addEventListener('click', () => select(node.id)); });
    const zoom = d3.zoom().scaleExtent([0.1, 4]).on('zoom', (event) => {
      inside.attr('transform', (event && event.transform) || d3.event.transform);
    });
    svg.call(zoom).call(zoom.transform, d3.zoomIdentity.scale(scale));
    section('graph-note').textContent = nodes.length + ' nodes' + (folded ? ', ' + folded + ' folded or far' : '') +
      (left ? ', ' + left + ' more: select one and look around it' : '') + '; drag and scroll to move';
  }

  // --- timeline of --run

  function timeline() {
    section('timeline').hidden = doc.loads.length === 0;
    if (doc.loads.length === 0) return;
    const place = document.querySelector('#timeline .chart');
    place.textContent = '';
    const loads = doc.loads.filter((load) => byId.has(load.object));
    const width = Math.max(place.clientWidth, 320);
    const pitch = 15;
    const names = 190;
    const end = d3.max(loads, (load) => load.time_ns + load.duration_ns) / 1e6 || 1;
    const x = d3.scaleLinear().domain([0, end]).nice().range([names, width - 12]);
    const svg = d3.select(place).append('svg').attr('viewBox', '0 0 ' + width + ' ' + (loads.length * pitch + 34)).attr('height', loads.length * pitch + 34);
    svg.append('g').attr('class', 'axis').attr('transform', 'translate(0,22)').call(d3.axisTop(x).ticks(Math.max(2, width / 140)).tickFormat((ms) => ms + ' ms'));
    const rows = svg.selectAll('g.load').data(loads).enter().append('g').attr('class', (load) => 'load' + classOf(byId.get(load.object)))
      .attr('data-id', (load) => load.object).attr('transform', (load, i) => 'translate(0,' + (26 + i * pitch) + ')');
    rows.append('text').attr('x', names - 6).attr('y', 11).attr('text-anchor', 'end').text((load) => fitting(byId.get(load.object).name, names - 10));
    rows.append('rect').attr('x', (load) => x(load.time_ns / 1e6)).attr('y', 2).attr('height', pitch - 4)
      .attr('width', (load) => Math.max(2, x((load.time_ns + load.duration_ns) / 1e6) - x(load.time_ns / 1e6)))
      .attr('fill', (load) => colour(ownerOf(byId.get(load.object))));
    rows.append('title').text((load) => load.object + '\nat ' + (load.time_ns / 1e6).toFixed(1) + ' ms, in ' + (load.duration_ns / 1e6).toFixed(1) + ' ms' +
      (load.cause ? '\nby ' + load.cause : ''));
    rows.each(function (load) { this.addEventListener('click', () => select(load.object)); });
  }

  // --- the clicked library

  function detail() {
    const place = section('detail');
    place.textContent = '';
    place.append(element('h2', state.selected ? 'Why ' + state.selected : 'Why'));
    const node = byId.get(state.selected);
    if (!node) {
      place.append(element('p', 'Click a library.', 'note'));
      return;
    }
    const answer = answers.texts[node.id];
    if (answer) {
      place.append(element('pre', answer));
    } else {
      const near = (map, end) => (map.get(node.id) || []).map((edge) => edge[end]).join(', ') || '-';
      place.append(element('p', node.path || node.kind));
      place.append(element('p', 'brought by: ' + near(causes, 'source')), element('p', 'brings: ' + near(effects, 'target')));
      if (isLibrary(node)) place.append(element('p', 'tracso --why ' + node.name + ' tells more', 'note'));
    }
  }

  function select(id) {
    state.selected = id;
    drawAll();
  }

  function drawAll() {
    document.querySelectorAll('#bytes button').forEach((button) => button.setAttribute('aria-pressed', String(button.dataset.bytes === state.bytes)));
    treemap();
    tables();
    graph();
    timeline();
    detail();
  }

  header();
  findings();
  section('near').checked = doc.nodes.length > tooMany;
  state.selected = answers.selected.length > 0 ? answers.selected[0] : null;
  ['fold', 'near'].forEach((id) => section(id).addEventListener('change', graph));
  window.addEventListener('resize', drawAll);
  drawAll();
})();
