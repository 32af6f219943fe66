// The scripts of checkout: plain, small, and the same core on our own pages and in foreign ones.
// They are text, because what runs in a browser is not compiled here; the browser tests are their compiler.

/** A broken stream is replaced after so long, and asked around meanwhile. */
const POLL_MS = 4_000;
/** The server says the time every 10 s: longer silence is a dead connection. */
const SILENCE_MS = 35_000;

/** The day is told with the hour where so much time is left. */
const DATED_MS = 12 * 3_600_000;

/**
 * Brings the checkout under `root` to life: time left, copying, live status, cancelling.
 * `source` is the address its markup is fetched from again, `base` what other addresses begin with;
 * `emit` is told each status, `again` the wish to start anew.
 */
const CORE = `
function checkout(root,source,base,emit,again){
var d=document,w=window,es,heard=0,skew=0,busy=0,more=0,dead=0,warned=0,over=0,failed=0,said='';
var $=function(s){return root.querySelector(s)},data=function(n){return root.getAttribute('data-'+n)||''};
var now=function(){return Date.now()+skew};
var clock=function(s){skew=s*1000-Date.now()};
var say=function(t){var e=$('[data-live]');if(e)e.textContent=t};
var num=function(n,pad){try{return new Intl.NumberFormat(root.lang,{minimumIntegerDigits:pad?2:1}).format(n)}catch(e){return(pad&&n<10?'0':'')+n}};
var quiet=function(off){var e=$('[data-offline]');if(e)e.hidden=!off};
function local(){var t=$('[data-before]');if(!t)return;try{
t.textContent=t.getAttribute('data-before').replace('{time}',new Date(t.dateTime).toLocaleString(root.lang,data('expires')*1000-now()>${DATED_MS}?{dateStyle:'medium',timeStyle:'short'}:{hour:'2-digit',minute:'2-digit'}))}catch(e){}}
function tick(){if(dead)return;var e=$('[data-left]');if(!e)return;
var s=Math.max(0,Math.floor(+data('expires')-now()/1000)),h=Math.floor(s/3600),m=Math.floor(s%3600/60);
var text=(h?num(h)+':':'')+num(m,h)+':'+num(s%60,1);if(e.textContent!==text)e.textContent=text;
var b=$('[data-bar]');if(b)b.value=s;
root.classList.toggle('soon',s<=60);
if(s<=60&&s>0&&!warned){warned=1;say(data('minute'))}
if(s===0&&!over){over=1;refresh()}}
function show(next){
var f=root.getRootNode().activeElement,k=f&&f.getAttribute&&(f.getAttribute('data-copy')||f.className),open=$('details[open]'),old=data('state');
for(var i=0;i<next.attributes.length;i++){var a=next.attributes[i];if(a.name.indexOf('data-')===0)root.setAttribute(a.name,a.value)}
$('[data-body]').replaceWith(next.querySelector('[data-body]'));
if(open&&$('details'))$('details').open=true;
if(k){var l=root.querySelectorAll('button,a,summary');for(i=0;i<l.length;i++)if((l[i].getAttribute('data-copy')||l[i].className)===k){l[i].focus();break}}
over=0;local();tick();
if(old!==data('state')){var h=$('.head'),t=$('.text');say((h?h.textContent:'')+'. '+(t?t.textContent:''));emit('shown')}}
function refresh(){
if(dead)return;if(busy){more=1;return}busy=1;
fetch(source,{credentials:'omit',cache:'no-store',headers:{accept:'text/html'}}).then(function(r){
if(!r.ok)throw 0;return r.text()}).then(function(t){
failed=0;quiet(0);var next=parse(t);if(!next||dead)return;clock(+next.getAttribute('data-now'));
if(next.getAttribute('data-version')!==data('version')||next.getAttribute('data-state')!==data('state'))show(next)
}).catch(function(){if(++failed>1)quiet(1)}).then(function(){busy=0;if(more){more=0;refresh()}})}
function connect(){
if(dead||!w.EventSource)return;if(es)es.close();heard=Date.now();
es=new EventSource(base+'/v1/pay/'+data('invoice')+'/events');
es.addEventListener('status',function(e){heard=Date.now();failed=0;quiet(0);var s=JSON.parse(e.data);clock(s.now);
if(s.version!==said){said=s.version;emit(s)}
if(s.version!==data('version'))refresh()});
es.addEventListener('time',function(e){heard=Date.now();clock(JSON.parse(e.data).now)})}
function wake(e){if(dead||d.hidden||e&&e.type==='pageshow'&&!e.persisted)return;if(!es||es.readyState===2)connect();refresh()}
function poll(){if(dead||d.hidden)return;
if(!es||es.readyState===2||Date.now()-heard>${SILENCE_MS})connect();
if(!es||es.readyState!==1)refresh()}
function copy(b){
var v=b.getAttribute('data-copy');
function done(ok){say(ok?data('copied'):data('selected'));if(!ok)return;
if(!b._t)b._t=b.textContent;b.textContent=data('copied');b.className='btn copy done';clearTimeout(b._c);
b._c=setTimeout(function(){b.textContent=b._t;b.className='btn copy'},2000)}
function old(){
var t=d.createElement('textarea');t.value=v;t.readOnly=true;t.className='sr';root.appendChild(t);t.select();
var ok=false;try{ok=d.execCommand('copy')}catch(e){}
t.remove();b.focus();
if(!ok){var r=d.createRange(),s=w.getSelection();r.selectNodeContents(b.parentNode.querySelector('.raw'));s.removeAllRanges();s.addRange(r)}
done(ok)}
if(navigator.clipboard&&w.isSecureContext)navigator.clipboard.writeText(v).then(function(){done(1)},old);else old()}
function click(e){
var t=e.target.closest&&e.target.closest('[data-copy],[data-print],[data-again]');if(!t)return;
if(t.hasAttribute('data-copy'))copy(t);else if(t.hasAttribute('data-print'))w.print();else if(again){e.preventDefault();again()}}
function submit(e){
if(!e.target.hasAttribute('data-cancel'))return;e.preventDefault();
fetch(base+'/v1/invoices/'+data('invoice')+'/cancel',{method:'POST',credentials:'omit'}).then(refresh,function(){quiet(1)})}
clock(+data('now'));local();tick();connect();
root.addEventListener('click',click);root.addEventListener('submit',submit);
var timers=[setInterval(tick,500),setInterval(poll,${POLL_MS})];
d.addEventListener('visibilitychange',wake);w.addEventListener('online',wake);w.addEventListener('pageshow',wake);
return function(){dead=1;if(es)es.close();timers.forEach(clearInterval);
d.removeEventListener('visibilitychange',wake);w.removeEventListener('online',wake);w.removeEventListener('pageshow',wake)}}
var policy=null,mine=Symbol.for('gatewayd');try{if(window.trustedTypes)policy=document[mine]=document[mine]||trustedTypes.createPolicy('gatewayd',{createHTML:function(t){return t}})}catch(e){}
function read(t){var css='';t=t.replace(/<style>([^<]*)<\\/style>/g,function(_,s){css+=s;return''});
var doc=new DOMParser().parseFromString(policy?policy.createHTML(t):t,'text/html');doc._css=css;return doc}
function parse(t){return read(t).querySelector('.gw')}`;

/** On our own pages: says before the first paint that scripts run, then mounts the core on the page itself. */
const PAGE = `
(function(){'use strict';${CORE}
var d=document;
function start(){var root=d.querySelector('.gw[data-invoice]');if(!root)return;root.classList.add('js');
var body=d.body,base=body.getAttribute('data-base')||'';
checkout(root,location.href,base,function(s){
if(s==='shown')d.title=root.getAttribute('data-title');
else d.dispatchEvent(new CustomEvent('gatewayd:status',{detail:s}));
if(root.getAttribute('data-status')!=='created'){var m=d.querySelector('meta[http-equiv=refresh]');if(m)m.remove()}})}
if(d.readyState==='loading'){var o=new MutationObserver(function(){var r=d.querySelector('.gw');if(r){r.classList.add('js');o.disconnect()}});
o.observe(d.documentElement,{childList:true,subtree:true});d.addEventListener('DOMContentLoaded',start)}else start()})()`;

/** The rest of a mount that is not there yet is waited for. */
const TARGET_MS = 15_000;

/** In foreign pages: each tag mounts one checkout, in a shadow of its own. */
const EMBED = `
(function(){'use strict';${CORE}
var d=document,me=d.currentScript;
function mount(tag){
if(tag._gatewayd)return;tag._gatewayd=1;
var base=new URL('.',tag.src).href.replace(/\\/$/,''),o=tag.dataset,host=null,stop=null,key='gatewayd:'+o.unit;
var query='?size='+encodeURIComponent(o.size||'mobile')+(o.lang?'&lang='+encodeURIComponent(o.lang):'');
function emit(s){if(s!=='shown')host.dispatchEvent(new CustomEvent('gatewayd:status',{detail:s,bubbles:true,composed:true}))}
function keep(id){try{id?sessionStorage.setItem(key,id):sessionStorage.removeItem(key)}catch(e){}}
function kept(){try{return sessionStorage.getItem(key)}catch(e){return null}}
function put(text){
var doc=read(text),root=doc.querySelector('.gw'),css=doc._css,shadow=host.shadowRoot||host.attachShadow({mode:'open'});
if(!root)throw 0;
if(stop)stop();stop=null;
try{var sheet=new CSSStyleSheet();sheet.replaceSync(css);shadow.adoptedStyleSheets=[sheet]}catch(e){
var l=d.createElement('style');l.textContent=css;root.appendChild(l)}
shadow.querySelectorAll('.gw').forEach(function(x){x.remove()});
root=d.importNode(root,true);root.classList.add('js');shadow.appendChild(root);return root}
function get(path){return fetch(base+path+query,{credentials:'omit',cache:'no-store'}).then(function(r){if(!r.ok)throw r.status;return r.text()})}
function pay(id){var path='/v1/pay/'+id+'/div';
return get(path).then(function(t){
if(!host.isConnected)return;stop=checkout(put(t),base+path+query,base,emit,o.unit?function(){keep();unit()}:null)})}
function unit(){return get('/v1/units/'+o.unit+'/div').then(function(t){
var root=put(t);
root.addEventListener('submit',function(e){e.preventDefault();var b=e.submitter;if(!b||root._busy)return;root._busy=1;
fetch(base+'/v1/units/'+o.unit+'/checkout',{method:'POST',credentials:'omit',headers:{'content-type':'application/json'},
body:JSON.stringify({chain:b.value})}).then(function(r){return r.json().then(function(j){if(!r.ok)throw r.status;return j})})
.then(function(j){keep(j.id);return pay(j.id)}).catch(function(s){root._busy=0;
var n=root.querySelector('[data-notice]');n.hidden=false;n.querySelector('.text').textContent=root.getAttribute(s===400||s===409?'data-another':'data-later')})})})}
function fail(){if(!host.isConnected)return;
var a=d.createElement('a');a.href=base+(o.invoice?'/v1/pay/'+o.invoice:'/v1/units/'+o.unit)+'/page';a.textContent='Checkout';a.rel='noopener';
(host.shadowRoot||host.attachShadow({mode:'open'})).replaceChildren(a)}
function start(place){
host=d.createElement('div');place.appendChild(host);
var id=o.invoice||kept();
(id?pay(id).catch(function(e){if(o.invoice)throw e;keep();return unit()}):unit()).catch(fail);
new MutationObserver(function(_,self){if(host.isConnected)return;self.disconnect();if(stop)stop()}).observe(d.documentElement,{childList:true,subtree:true})}
function find(){return o.target?d.querySelector(o.target):tag.parentNode}
var place=o.target?find():null;
if(!o.target){var own=d.createElement('div');tag.insertAdjacentElement('afterend',own);return start(own)}
if(place)return start(place);
var wait=new MutationObserver(function(){var p=find();if(!p)return;wait.disconnect();start(p)});
wait.observe(d.documentElement,{childList:true,subtree:true});setTimeout(function(){wait.disconnect()},${TARGET_MS})}
if(me&&(me.dataset.unit||me.dataset.invoice))mount(me);
else d.querySelectorAll('script[src$="/embed.js"]').forEach(function(t){if(t.dataset.unit||t.dataset.invoice)mount(t)})})()`;

export const pageScript = PAGE.trim();
export const embedScript = EMBED.trim();
