"""The page's script: theme, a filter of cells, maps of large fabrics; without it everything but the maps is there."""

SCRIPT = """
(function(){"use strict";
var root=document.documentElement,theme=document.getElementById("theme");
theme.addEventListener("click",function(){
 var dark=root.dataset.theme?root.dataset.theme==="dark":matchMedia("(prefers-color-scheme: dark)").matches;
 root.dataset.theme=dark?"light":"dark";paint();});
var words=document.getElementById("words"),only=document.getElementById("only"),counted=document.getElementById("counted");
var rows=Array.prototype.slice.call(document.querySelectorAll("#cells tbody tr"));
function filter(){var wanted=words.value.toLowerCase().split(/\\s+/).filter(Boolean),shown=0;
 rows.forEach(function(row){var text=row.textContent.toLowerCase();
  var fits=(!only.value||row.dataset.v===only.value)&&wanted.every(function(word){return text.indexOf(word)>=0;});
  row.hidden=!fits;shown+=fits?1:0;});
 counted.textContent=shown+" of "+rows.length;}
if(words){words.addEventListener("input",filter);only.addEventListener("change",filter);filter();}
addEventListener("beforeprint",function(){document.querySelectorAll("details").forEach(function(one){
 one.dataset.was=one.open?"1":"";one.open=true;});});
addEventListener("afterprint",function(){document.querySelectorAll("details").forEach(function(one){one.open=!!one.dataset.was;});});
var block=document.getElementById("maps"),maps=block?JSON.parse(block.textContent):null;
var meaning={p:"PASS",f:"FAIL",u:"UNKNOWN",s:"SKIP",".":"not planned"};
var canvases=Array.prototype.slice.call(document.querySelectorAll("canvas.map")),pointed=document.getElementById("pointed");
function colour(name){return getComputedStyle(root).getPropertyValue("--"+name).trim();}
function paint(){if(!maps)return;
 var shades={p:colour("pb"),f:colour("f"),u:colour("u"),s:colour("sb"),".":colour("bg")},size=maps.nodes.length;
 var scale=Math.max(1,Math.floor(480/size));
 canvases.forEach(function(canvas){var rail=+canvas.dataset.rail,pen=canvas.getContext("2d");
  canvas.width=canvas.height=size*scale;
  maps.verdicts[rail].forEach(function(line,row){for(var column=0;column<size;column++){
   pen.fillStyle=shades[line[column]]||shades["."];pen.fillRect(column*scale,row*scale,scale,scale);}});
  if(canvas.at){pen.strokeStyle=colour("mark");pen.lineWidth=2;
   pen.strokeRect(canvas.at[1]*scale-1,canvas.at[0]*scale-1,scale+2,scale+2);}});}
function tell(canvas){var rail=+canvas.dataset.rail,row=canvas.at[0],column=canvas.at[1];
 pointed.textContent=maps.rails[rail]+": "+maps.nodes[row]+" to "+maps.nodes[column]+": "+
 (row===column?"the same node":meaning[maps.verdicts[rail][row][column]]);paint();}
canvases.forEach(function(canvas){
 canvas.addEventListener("mousemove",function(event){var box=canvas.getBoundingClientRect(),size=maps.nodes.length;
  canvas.at=[Math.min(size-1,Math.floor((event.clientY-box.top)/box.height*size)),
   Math.min(size-1,Math.floor((event.clientX-box.left)/box.width*size))];tell(canvas);});
 canvas.addEventListener("focus",function(){canvas.at=canvas.at||[0,0];tell(canvas);});
 canvas.addEventListener("keydown",function(event){var size=maps.nodes.length,at=canvas.at||[0,0];
  var move={ArrowUp:[-1,0],ArrowDown:[1,0],ArrowLeft:[0,-1],ArrowRight:[0,1]}[event.key];
  if(!move)return;event.preventDefault();
  canvas.at=[(at[0]+move[0]+size)%size,(at[1]+move[1]+size)%size];tell(canvas);});});
paint();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change",paint);
})();
"""
