#!/usr/bin/env python3
"""Opens the page of -o x.html in a headless Chromium, clicks and searches in it, and keeps screenshots to be looked at.
Usage: html.py TRACSO [FOLDER]. Without Chromium or without HTML in that build it says so and ends with 0."""
import copy
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

TRACSO = os.path.abspath(sys.argv[1])
FOLDER = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp(prefix="tracso-html-")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ENVIRONMENT = dict(os.environ, TRACSO_NO_STATE="1")

# Put before everything else, and behind everything else. What is seen goes into an element that --dump-dom prints.
WATCH = "<script>window.problems=[];addEventListener('error',e=>problems.push(String(e.message)));" \
        "addEventListener('securitypolicyviolation',e=>problems.push('policy: '+e.violatedDirective));</script>"
ACT = """<script>
const seen={};
const all=(q)=>document.querySelectorAll(q);
seen.drawn_ms=Math.round(performance.now());
seen.tiles=all('#map .tile').length; seen.rows=all('#libraries tbody tr').length; seen.nodes=all('#graph .node').length;
seen.loads=all('#timeline .load').length; seen.timeline=!document.querySelector('#timeline').hidden;
const fold=document.querySelector('#fold'); fold.checked=false; fold.dispatchEvent(new Event('change'));
seen.unfolded=all('#graph .node').length; fold.checked=true; fold.dispatchEvent(new Event('change'));
all('#libraries tbody tr')[0].dispatchEvent(new Event('click',{bubbles:true}));
seen.chosen=document.querySelector('#detail h2').textContent; seen.answer=(document.querySelector('#detail pre')||{textContent:''}).textContent;
const tile=document.querySelector('#map .tile'); if(tile){tile.dispatchEvent(new Event('click'));}
seen.tile_chosen=document.querySelector('#detail h2').textContent;
const names=()=>Array.from(all('#libraries tbody tr td:first-child')).map(c=>c.textContent);
const head=()=>all('#libraries th')[2]; head().click();
seen.by_file=Array.from(all('#libraries tbody tr td:nth-child(3)')).slice(0,2).map(c=>c.textContent);
const search=document.querySelector('#search'); search.value='SEARCH'; search.dispatchEvent(new Event('input'));
seen.found=names(); seen.dimmed=all('#map .tile.dim').length;
search.value=''; search.dispatchEvent(new Event('input'));
seen.private_button=!document.querySelector('[data-bytes=private]').disabled;
if(seen.private_button){document.querySelector('[data-bytes=private]').click();seen.private_tiles=all('#map .tile').length;}
seen.images=document.images.length; seen.title=document.title; seen.problems=window.problems;
seen.page_scripts=document.scripts.length;
document.body.innerHTML='<pre id=seen></pre>';document.querySelector('#seen').textContent=JSON.stringify(seen);
</script>"""


def browse(path, *arguments, size="1400,1000"):
    command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=" + size,
               "--virtual-time-budget=8000", "--user-data-dir=" + tempfile.mkdtemp(dir=FOLDER), *arguments, "file://" + path]
    return subprocess.run(command, capture_output=True, text=True, timeout=300).stdout


def act(path, search):
    page = open(path, encoding="utf-8").read()
    acted = path.replace(".html", "-acted.html")
    with open(acted, "w", encoding="utf-8") as file:
        head, tail = page.split("<head>", 1)
        file.write(head + "<head>" + WATCH + tail.replace("</body>", ACT.replace("SEARCH", search) + "</body>"))
    dom = browse(acted, "--dump-dom")
    text = re.search(r'<pre id="seen">(.*?)</pre>', dom, re.S)
    if not text:
        sys.exit("the page did not answer: " + dom[-500:])
    for escaped, plain in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        text = text[1].replace(escaped, plain) if not isinstance(text, str) else text.replace(escaped, plain)
    return json.loads(text)


def screenshots(path, name):
    for look, arguments in (("light", []), ("dark", ["--force-dark-mode", "--blink-settings=preferredColorScheme=0"])):
        browse(path, f"--screenshot={FOLDER}/{name}-{look}.png", *arguments, size="1400,2600")
    browse(path, f"--print-to-pdf={FOLDER}/{name}.pdf")


def page(name, *words):
    path = f"{FOLDER}/{name}.html"
    ran = subprocess.run([TRACSO, "-o", path, *words], capture_output=True, text=True, env=ENVIRONMENT)
    if ran.returncode == 5:
        print("skipped: " + ran.stderr.strip())
        sys.exit(0)
    assert ran.returncode in (0, 1), ran.stderr
    return path


def document(*words):
    return json.loads(subprocess.run([TRACSO, "--json", *words], capture_output=True, text=True, env=ENVIRONMENT, check=True).stdout)


def saved(name, content):
    with open(f"{FOLDER}/{name}.json", "w") as file:
        json.dump(content, file)
    return f"{FOLDER}/{name}.json"


def many(base, count):
    """The document with so many libraries: copies of those it has, each with their edges."""
    made = copy.deepcopy(base)
    ids = {node["id"] for node in made["nodes"]}
    library = [node for node in base["nodes"] if node["kind"] == "library" and node["path"]]
    number = 0
    while len(library) and sum(node["kind"] == "library" for node in made["nodes"]) < count:
        original = library[number % len(library)]
        node = copy.deepcopy(original)
        node["id"] = node["name"] = node["soname"] = f"lib{number:04}-{original['name']}"
        node["path"] = f"/opt/lib/{node['id']}"
        node["inode"] = 10_000_000 + number
        number += 1
        if node["id"] in ids:
            continue
        made["nodes"].append(node)
        for edge in base["edges"]:
            if edge["target"] == original["id"]:
                made["edges"].append(dict(copy.deepcopy(edge), target=node["id"], needed=node["id"]))
    return made


def check(what, true):
    print(("  ok    " if true else "  WRONG ") + what)
    check.wrong += not true


check.wrong = 0
if not BROWSER:
    print("skipped: chromium is not installed")
    sys.exit(0)
target = subprocess.Popen(["/usr/bin/python3", "-c", "import ssl, sqlite3, sys; print(1, flush=True); sys.stdin.read()"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE)
target.stdout.readline()
pid = str(target.pid)

print("a process")
seen = act(page("process", pid), "libssl")
screenshots(f"{FOLDER}/process.html", "process")
check("no script error, nothing forbidden was tried", seen["problems"] == [])
check(f"tiles and rows: {seen['tiles']}, {seen['rows']}", seen["tiles"] >= seen["rows"] >= 8)
check(f"folding: {seen['nodes']} of {seen['unfolded']} nodes", 0 < seen["nodes"] < seen["unfolded"])
check("a click on a row answers why", seen["chosen"].startswith("Why ") and "loaded from" in seen["answer"])
check("a click on a tile chooses", seen["tile_chosen"].startswith("Why lib") or seen["tile_chosen"].startswith("Why "))
check(f"search finds {seen['found']}", seen["found"] == ["libssl.so.3"] and seen["dimmed"] > 5)
check("private bytes can be chosen", seen["private_button"] and seen["private_tiles"] > 5)
check("no timeline without --run", not seen["timeline"])

print("--run")
seen = act(page("run", "--run", "/usr/bin/python3", "-c", "import ssl, sqlite3, ctypes"), "sqlite")
screenshots(f"{FOLDER}/run.html", "run")
check(f"timeline: {seen['loads']} loads", seen["timeline"] and seen["loads"] > 5 and seen["problems"] == [])

print("three libraries")
seen = act(page("file", "/bin/true"), "libc")
screenshots(f"{FOLDER}/file.html", "file")
check(f"{seen['rows']} rows", 1 <= seen["rows"] <= 3 and seen["problems"] == [] and "libc.so.6" in seen["found"])

print("a thousand libraries")
base = document(pid)
seen = act(page("thousand", "--from", saved("thousand", many(base, 1000))), "lib0042")
screenshots(f"{FOLDER}/thousand.html", "thousand")
check(f"{seen['rows']} rows, drawn {seen['drawn_ms']} ms after the start", seen["rows"] >= 1000 and seen["problems"] == [])
check(f"search finds {len(seen['found'])}", len(seen["found"]) == 1)
print(f"  page: {os.path.getsize(FOLDER + '/thousand.html')} bytes")

print("hostile names")
evil = copy.deepcopy(base)
mark = "</script><img src=x onerror=\"document.title='pwned'\"><b>&amp;\"'`${1}"
old = next(node["id"] for node in evil["nodes"] if node["name"] == "libssl.so.3")
text = json.dumps(evil).replace(json.dumps(old)[1:-1], json.dumps(mark)[1:-1])
seen = act(page("hostile", "--from", saved("hostile", json.loads(text))), "onerror")
check("markup stays text", seen["images"] == 0 and "pwned" not in seen["title"] and seen["problems"] == [])
check("and is found as text", len(seen["found"]) == 1)

target.kill()
print(f"screenshots to look at: {FOLDER}")
sys.exit(bool(check.wrong))
