<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
    <context>
        <name>schema</name>
        <message>
            <source>Run</source>
            <translation>运行</translation>
        </message>
        <message>
            <source>Data</source>
            <translation>数据</translation>
        </message>
        <message>
            <source>Model</source>
            <translation>模型</translation>
        </message>
        <message>
            <source>Task</source>
            <translation>任务</translation>
        </message>
        <message>
            <source>Optimizer</source>
            <translation>优化器</translation>
        </message>
        <message>
            <source>Schedule</source>
            <translation>学习率曲线</translation>
        </message>
        <message>
            <source>Accumulation</source>
            <translation>累积</translation>
        </message>
        <message>
            <source>Precision</source>
            <translation>精度</translation>
        </message>
        <message>
            <source>Parallel</source>
            <translation>并行</translation>
        </message>
        <message>
            <source>Evaluation</source>
            <translation>评估</translation>
        </message>
        <message>
            <source>Checkpoint</source>
            <translation>检查点</translation>
        </message>
        <message>
            <source>Telemetry</source>
            <translation>记录</translation>
        </message>
        <message>
            <source>Name</source>
            <translation>名称</translation>
        </message>
        <message>
            <source>What the run is called; empty makes a name from the preset and the changed settings.</source>
            <translation>运行的名称；留空则由预设和已更改的设置生成。</translation>
        </message>
        <message>
            <source>Seed</source>
            <translation>随机种子</translation>
        </message>
        <message>
            <source>Start of all random numbers: initial weights, order of the samples, dropout, augmentation.</source>
            <translation>所有随机数的起点：初始权重、样本顺序、dropout、增强。</translation>
        </message>
        <message>
            <source>Epochs</source>
            <translation>轮数</translation>
        </message>
        <message>
            <source>Passes over the training data; the run ends with this or with max_updates, whichever comes first.</source>
            <translation>遍历训练数据的次数；达到它或 max_updates 时运行结束。</translation>
        </message>
        <message>
            <source>Most updates</source>
            <translation>更新上限</translation>
        </message>
        <message>
            <source>Applied optimizer updates after which the run ends.</source>
            <translation>优化器更新达到此数后运行结束。</translation>
        </message>
        <message>
            <source>Keep awake</source>
            <translation>保持唤醒</translation>
        </message>
        <message>
            <source>Keep the machine from going to sleep by itself while the run is up.</source>
            <translation>运行期间不让机器自行休眠。</translation>
        </message>
        <message>
            <source>Note</source>
            <translation>备注</translation>
        </message>
        <message>
            <source>Anything worth remembering about this run.</source>
            <translation>关于此运行值得记住的内容。</translation>
        </message>
        <message>
            <source>Format</source>
            <translation>格式</translation>
        </message>
        <message>
            <source>How the data is stored; auto decides by what lies at the path.</source>
            <translation>数据的存储方式；auto 按路径中的内容判断。</translation>
        </message>
        <message>
            <source>Training data</source>
            <translation>训练数据</translation>
        </message>
        <message>
            <source>Training labels</source>
            <translation>训练标签</translation>
        </message>
        <message>
            <source>IDX label file that belongs to the training images.</source>
            <translation>与训练图片对应的 IDX 标签文件。</translation>
        </message>
        <message>
            <source>Evaluation data</source>
            <translation>评估数据</translation>
        </message>
        <message>
            <source>Data to evaluate on, in the same form; empty holds out a part of the training data.</source>
            <translation>用于评估的同格式数据；留空则留出一部分训练数据。</translation>
        </message>
        <message>
            <source>Evaluation labels</source>
            <translation>评估标签</translation>
        </message>
        <message>
            <source>IDX label file that belongs to the evaluation images.</source>
            <translation>与评估图片对应的 IDX 标签文件。</translation>
        </message>
        <message>
            <source>Held-out part</source>
            <translation>留出比例</translation>
        </message>
        <message>
            <source>Split seed</source>
            <translation>划分种子</translation>
        </message>
        <message>
            <source>Chooses the held-out samples; apart from the run's seed, so that runs compare on one split.</source>
            <translation>决定留出哪些样本；独立于运行种子，便于在同一划分上比较。</translation>
        </message>
        <message>
            <source>Feature columns</source>
            <translation>特征列</translation>
        </message>
        <message>
            <source>CSV columns to learn from; empty takes all but target and weight.</source>
            <translation>用于学习的 CSV 列；留空则取目标和权重以外的所有列。</translation>
        </message>
        <message>
            <source>Target columns</source>
            <translation>目标列</translation>
        </message>
        <message>
            <source>CSV column to predict; a regression may have several.</source>
            <translation>要预测的 CSV 列；回归可以有多列。</translation>
        </message>
        <message>
            <source>Weight column</source>
            <translation>权重列</translation>
        </message>
        <message>
            <source>CSV column with the weight of each sample; empty weighs all alike.</source>
            <translation>每个样本权重的 CSV 列；留空则一视同仁。</translation>
        </message>
        <message>
            <source>Standardize features</source>
            <translation>特征标准化</translation>
        </message>
        <message>
            <source>Scales CSV features to mean 0 and deviation 1 over the training part.</source>
            <translation>按训练部分把 CSV 特征缩放到均值 0、标准差 1。</translation>
        </message>
        <message>
            <source>Batch size</source>
            <translation>批大小</translation>
        </message>
        <message>
            <source>Shuffle</source>
            <translation>打乱</translation>
        </message>
        <message>
            <source>Draws a new order for each epoch; off keeps the order of the file.</source>
            <translation>每轮重新排列；关闭则保持文件顺序。</translation>
        </message>
        <message>
            <source>Drop the last batch</source>
            <translation>丢弃末批</translation>
        </message>
        <message>
            <source>Leaves out the samples that do not fill the last micro-batch of an epoch.</source>
            <translation>略去一轮中填不满最后一个微批的样本。</translation>
        </message>
        <message>
            <source>Loader threads</source>
            <translation>加载线程</translation>
        </message>
        <message>
            <source>Threads that prepare samples; 0 prepares them in the training thread.</source>
            <translation>准备样本的线程数；0 表示在训练线程中准备。</translation>
        </message>
        <message>
            <source>Image size</source>
            <translation>图像尺寸</translation>
        </message>
        <message>
            <source>Side of the square that every image is brought to.</source>
            <translation>每张图片统一到的正方形边长。</translation>
        </message>
        <message>
            <source>Channels</source>
            <translation>通道</translation>
        </message>
        <message>
            <source>Colour or gray; auto keeps what the images are.</source>
            <translation>彩色或灰度；auto 保持原样。</translation>
        </message>
        <message>
            <source>Resize by</source>
            <translation>缩放方式</translation>
        </message>
        <message>
            <source>crop scales the short side and cuts the centre; stretch scales both sides.</source>
            <translation>crop 缩放短边并裁取中心；stretch 拉伸两边。</translation>
        </message>
        <message>
            <source>Normalize</source>
            <translation>归一化</translation>
        </message>
        <message>
            <source>unit divides pixels by 255; imagenet then applies the mean and deviation of ImageNet.</source>
            <translation>unit 将像素除以 255；imagenet 再按 ImageNet 的均值和标准差处理。</translation>
        </message>
        <message>
            <source>Random flip</source>
            <translation>随机翻转</translation>
        </message>
        <message>
            <source>Mirrors half of the training images left to right.</source>
            <translation>将一半训练图片左右翻转。</translation>
        </message>
        <message>
            <source>Random shift</source>
            <translation>随机平移</translation>
        </message>
        <message>
            <source>Shifts training images by up to so many pixels in each direction.</source>
            <translation>将训练图片在各方向平移至多这么多像素。</translation>
        </message>
        <message>
            <source>The network to train.</source>
            <translation>要训练的网络。</translation>
        </message>
        <message>
            <source>Hidden layers</source>
            <translation>隐藏层</translation>
        </message>
        <message>
            <source>Width of each hidden layer.</source>
            <translation>每个隐藏层的宽度。</translation>
        </message>
        <message>
            <source>Filters</source>
            <translation>滤波器</translation>
        </message>
        <message>
            <source>Filters of each convolution stage; a stage halves images of 4 pixels or more.</source>
            <translation>每个卷积阶段的滤波器数；每个阶段将 4 像素以上的图像减半。</translation>
        </message>
        <message>
            <source>Dropout</source>
            <translation>Dropout</translation>
        </message>
        <message>
            <source>Part of the activations that is dropped while training.</source>
            <translation>训练时丢弃的激活比例。</translation>
        </message>
        <message>
            <source>Batch normalization</source>
            <translation>批归一化</translation>
        </message>
        <message>
            <source>Normalizes after each convolution.</source>
            <translation>在每次卷积后归一化。</translation>
        </message>
        <message>
            <source>Stem</source>
            <translation>主干入口</translation>
        </message>
        <message>
            <source>standard halves the image twice before the first stage; small keeps its size, for images under about 64 pixels.</source>
            <translation>standard 在第一阶段前将图像减半两次；small 保持大小，适合约 64 像素以下的图像。</translation>
        </message>
        <message>
            <source>Width</source>
            <translation>宽度</translation>
        </message>
        <message>
            <source>Initial weights</source>
            <translation>初始权重</translation>
        </message>
        <message>
            <source>Safetensors file to start from; empty starts from random weights.</source>
            <translation>起始的 safetensors 文件；留空则随机初始化。</translation>
        </message>
        <message>
            <source>Classes</source>
            <translation>类别数</translation>
        </message>
        <message>
            <source>Number of classes the model tells apart.</source>
            <translation>模型区分的类别数。</translation>
        </message>
        <message>
            <source>Label smoothing</source>
            <translation>标签平滑</translation>
        </message>
        <message>
            <source>Part of the target that is spread over all classes.</source>
            <translation>分摊到所有类别的目标比例。</translation>
        </message>
        <message>
            <source>Loss</source>
            <translation>损失</translation>
        </message>
        <message>
            <source>mse squares the error, mae takes its size, huber squares small errors only.</source>
            <translation>mse 取误差平方，mae 取绝对值，huber 只对小误差取平方。</translation>
        </message>
        <message>
            <source>The rule that turns gradients into changes of the weights.</source>
            <translation>把梯度变为权重更新的规则。</translation>
        </message>
        <message>
            <source>Learning rate</source>
            <translation>学习率</translation>
        </message>
        <message>
            <source>Size of a step at the peak of the schedule.</source>
            <translation>曲线峰值处的步长。</translation>
        </message>
        <message>
            <source>Weight decay</source>
            <translation>权重衰减</translation>
        </message>
        <message>
            <source>Beta 1</source>
            <translation>Beta 1</translation>
        </message>
        <message>
            <source>Memory of the mean gradient.</source>
            <translation>对平均梯度的记忆。</translation>
        </message>
        <message>
            <source>Beta 2</source>
            <translation>Beta 2</translation>
        </message>
        <message>
            <source>Epsilon</source>
            <translation>Epsilon</translation>
        </message>
        <message>
            <source>Keeps the division by the root of the squared gradient finite.</source>
            <translation>使除以梯度平方根保持有限。</translation>
        </message>
        <message>
            <source>Momentum</source>
            <translation>动量</translation>
        </message>
        <message>
            <source>Memory of earlier steps.</source>
            <translation>对先前步的记忆。</translation>
        </message>
        <message>
            <source>Nesterov momentum</source>
            <translation>Nesterov 动量</translation>
        </message>
        <message>
            <source>Looks ahead along the momentum before it steps.</source>
            <translation>迈步前沿动量方向预看。</translation>
        </message>
        <message>
            <source>Gradient clipping</source>
            <translation>梯度裁剪</translation>
        </message>
        <message>
            <source>Largest norm of the whole gradient; a larger one is scaled down to it.</source>
            <translation>整个梯度的最大范数；更大时按比例缩小。</translation>
        </message>
        <message>
            <source>Course of the learning rate after warm-up.</source>
            <translation>预热之后学习率的走势。</translation>
        </message>
        <message>
            <source>Warm-up</source>
            <translation>预热</translation>
        </message>
        <message>
            <source>Final factor</source>
            <translation>终值比例</translation>
        </message>
        <message>
            <source>Length</source>
            <translation>长度</translation>
        </message>
        <message>
            <source>Updates that the curve spans.</source>
            <translation>曲线覆盖的更新次数。</translation>
        </message>
        <message>
            <source>Micro-batches whose gradients make one update.</source>
            <translation>合成一次更新的微批数。</translation>
        </message>
        <message>
            <source>Number format of weights and arithmetic; fp64 is for checking numbers.</source>
            <translation>权重和运算的数字格式；fp64 用于核对数值。</translation>
        </message>
        <message>
            <source>Skips before giving up</source>
            <translation>放弃前的跳过次数</translation>
        </message>
        <message>
            <source>Updates skipped in a row, because loss or gradient is not finite or by the guard, before the run ends as diverged. Windows without weight do not count.</source>
            <translation>因损失或梯度非有限、或被守护跳过，连续跳过这么多次更新后，运行以发散结束。没有权重的窗口不计入。</translation>
        </message>
        <message>
            <source>Device</source>
            <translation>设备</translation>
        </message>
        <message>
            <source>auto takes a usable GPU where there is one, else the CPU; or cpu, cuda, or UUIDs of GPUs with commas between: ranks take the first of them.</source>
            <translation>auto 有可用 GPU 时用 GPU，否则用 CPU；也可填 cpu、cuda，或用逗号隔开的 GPU UUID：各进程依次取用。</translation>
        </message>
        <message>
            <source>Threads</source>
            <translation>线程</translation>
        </message>
        <message>
            <source>CPU threads for arithmetic.</source>
            <translation>用于运算的 CPU 线程。</translation>
        </message>
        <message>
            <source>Most batches</source>
            <translation>最多批次</translation>
        </message>
        <message>
            <source>Ends each evaluation after so many batches, counted over all ranks from the beginning of the data.</source>
            <translation>每次评估在这么多批次后结束，从数据开头起、所有进程合计。</translation>
        </message>
        <message>
            <source>Determinism</source>
            <translation>确定性</translation>
        </message>
        <message>
            <source>exact gives the same bits on equal terms and proves it at each resume; a save costs one more window, and GPUs keep to operators of fixed order. fast lets a GPU try out what is quickest and proves nothing; on the CPU an update takes the same time either way (within 1 %).</source>
            <translation>exact 在相同条件下结果逐位相同，并在每次恢复时加以证明；每次保存多算一个窗口，GPU 只用顺序固定的算子。fast 让 GPU 选用最快的做法，不作证明；在 CPU 上两者每次更新耗时相同（相差 1 % 以内）。</translation>
        </message>
        <message>
            <source>Evaluate every</source>
            <translation>评估间隔</translation>
        </message>
        <message>
            <source>How often the model is evaluated; the end of the run always is. In a run of one epoch, each epoch means 20 times.</source>
            <translation>评估模型的频率；运行结束时总会评估。在只有一个 epoch 的运行中，“每个 epoch”是指 20 次。</translation>
        </message>
        <message>
            <source>Samples in an evaluation batch.</source>
            <translation>评估批的样本数。</translation>
        </message>
        <message>
            <source>Best by</source>
            <translation>最佳依据</translation>
        </message>
        <message>
            <source>Metric that decides which checkpoint is best; auto takes accuracy or loss, by task.</source>
            <translation>决定最佳检查点的指标；auto 按任务取准确率或损失。</translation>
        </message>
        <message>
            <source>Better is</source>
            <translation>更好的方向</translation>
        </message>
        <message>
            <source>Whether a smaller or a larger value is better; auto knows the built-in metrics.</source>
            <translation>值小还是值大为好；auto 了解内置指标。</translation>
        </message>
        <message>
            <source>Patience</source>
            <translation>耐心</translation>
        </message>
        <message>
            <source>Evaluations without a better one before the run ends early.</source>
            <translation>连续这么多次评估没有改进则提前结束。</translation>
        </message>
        <message>
            <source>Smallest gain</source>
            <translation>最小改进</translation>
        </message>
        <message>
            <source>By how much an evaluation must be better than before for patience to begin anew. Best is whatever is better.</source>
            <translation>评估要比之前好多少，耐心才重新计起。最佳始终是更好的那一个。</translation>
        </message>
        <message>
            <source>Save every</source>
            <translation>保存间隔</translation>
        </message>
        <message>
            <source>How often a checkpoint is written; the end of the run and a stop always save.</source>
            <translation>写入检查点的频率；运行结束和停止时总会保存。</translation>
        </message>
        <message>
            <source>Keep newest</source>
            <translation>保留最新</translation>
        </message>
        <message>
            <source>Newest checkpoints that are kept, of the line that goes on. Of a branch that was left by going back its newest one stays.</source>
            <translation>在继续的主线上保留的最新检查点数。回退后离开的分支只保留其最新的一个。</translation>
        </message>
        <message>
            <source>Keep best</source>
            <translation>保留最佳</translation>
        </message>
        <message>
            <source>Best checkpoints that are kept, also on branches that were left.</source>
            <translation>保留的最佳检查点数，也包括已离开的分支。</translation>
        </message>
        <message>
            <source>Keep every</source>
            <translation>保留间隔</translation>
        </message>
        <message>
            <source>Checkpoints whose step is a multiple of this are kept as well.</source>
            <translation>步数为此值倍数的检查点也会保留。</translation>
        </message>
        <message>
            <source>none beside the newest and the best</source>
            <translation>除最新和最佳外不另保留</translation>
        </message>
        <message>
            <source>Record every</source>
            <translation>记录间隔</translation>
        </message>
        <message>
            <source>How often loss, rate, gradient norm and speed are recorded.</source>
            <translation>记录损失、学习率、梯度范数和速度的频率。</translation>
        </message>
        <message>
            <source>Devices every</source>
            <translation>设备记录间隔</translation>
        </message>
        <message>
            <source>How often use and memory of the devices are recorded.</source>
            <translation>记录设备占用和内存的频率。</translation>
        </message>
        <message>
            <source>samples</source>
            <translation>个样本</translation>
        </message>
        <message>
            <source>epochs</source>
            <translation>轮</translation>
        </message>
        <message>
            <source>updates</source>
            <translation>次更新</translation>
        </message>
        <message>
            <source>threads</source>
            <translation>个线程</translation>
        </message>
        <message>
            <source>pixels</source>
            <translation>像素</translation>
        </message>
        <message>
            <source>channels</source>
            <translation>个通道</translation>
        </message>
        <message>
            <source>classes</source>
            <translation>类</translation>
        </message>
        <message>
            <source>micro-batches</source>
            <translation>个微批</translation>
        </message>
        <message>
            <source>evaluations</source>
            <translation>次评估</translation>
        </message>
        <message>
            <source>checkpoints</source>
            <translation>个检查点</translation>
        </message>
        <message>
            <source>no limit</source>
            <translation>不限</translation>
        </message>
        <message>
            <source>as stored</source>
            <translation>保持原样</translation>
        </message>
        <message>
            <source>no clipping</source>
            <translation>不裁剪</translation>
        </message>
        <message>
            <source>as in training</source>
            <translation>与训练相同</translation>
        </message>
        <message>
            <source>never ends early</source>
            <translation>不提前结束</translation>
        </message>
        <message>
            <source>one a physical core</source>
            <translation>每个物理核心一个</translation>
        </message>
        <message>
            <source>the planned length of the run</source>
            <translation>运行的计划长度</translation>
        </message>
        <message>
            <source>from the data</source>
            <translation>由数据决定</translation>
        </message>
        <message>
            <source>Accumulate by</source>
            <translation>累积方式</translation>
        </message>
        <message>
            <source>fixed takes the same number of micro-batches each time; ramp lets it grow; weight closes an update once it holds enough.</source>
            <translation>fixed 每次取相同数量的微批；ramp 让数量逐渐增加；weight 在足够时结束一次更新。</translation>
        </message>
        <message>
            <source>Micro-batches whose gradients make one update; several ranks share them.</source>
            <translation>合成一次更新的微批数；多个进程共同分担。</translation>
        </message>
        <message>
            <source>Ramp from</source>
            <translation>起始数量</translation>
        </message>
        <message>
            <source>Micro-batches of the first update of a ramp.</source>
            <translation>ramp 第一次更新的微批数。</translation>
        </message>
        <message>
            <source>Ramp over</source>
            <translation>增长跨度</translation>
        </message>
        <message>
            <source>Updates over which the number of micro-batches grows to its end.</source>
            <translation>微批数增长到终值所用的更新次数。</translation>
        </message>
        <message>
            <source>Weight of an update</source>
            <translation>每次更新的权重</translation>
        </message>
        <message>
            <source>An update closes with the micro-batch that brings it to this weight: samples, or the sum of their weights or tokens.</source>
            <translation>达到此权重的微批结束一次更新：样本数，或其权重或词元之和。</translation>
        </message>
        <message>
            <source>Number format of the arithmetic; bf16 and fp16 keep weights and gradients in fp32, auto takes what the device is fast in, fp64 is for checking numbers.</source>
            <translation>运算的数字格式；bf16 和 fp16 的权重与梯度仍为 fp32，auto 取设备擅长的格式，fp64 用于核对数值。</translation>
        </message>
        <message>
            <source>Loss scale</source>
            <translation>损失缩放</translation>
        </message>
        <message>
            <source>What the loss is multiplied by at first in fp16, so that small gradients do not vanish; a power of two.</source>
            <translation>fp16 下损失最初乘以的数，使小梯度不致消失；为 2 的幂。</translation>
        </message>
        <message>
            <source>Scale grows after</source>
            <translation>缩放增长间隔</translation>
        </message>
        <message>
            <source>Updates without an overflow until the loss scale doubles.</source>
            <translation>无溢出的更新达到此数后损失缩放加倍。</translation>
        </message>
        <message>
            <source>Strategy</source>
            <translation>并行策略</translation>
        </message>
        <message>
            <source>single is one process; ddp gives every rank the whole model and a share of each update; auto is ddp from two ranks on.</source>
            <translation>single 为单进程；ddp 让每个进程持有整个模型并分担每次更新；auto 在两个进程起用 ddp。</translation>
        </message>
        <message>
            <source>Ranks</source>
            <translation>进程数</translation>
        </message>
        <message>
            <source>Processes that train together; they share the micro-batches of each update.</source>
            <translation>共同训练的进程；分担每次更新的微批。</translation>
        </message>
        <message>
            <source>Sum gradients by</source>
            <translation>梯度求和方式</translation>
        </message>
        <message>
            <source>ring is fastest; tree gives the same bits for 1, 2, 4 … ranks.</source>
            <translation>ring 最快；tree 在 1、2、4…个进程下结果逐位相同。</translation>
        </message>
        <message>
            <source>Sum gradients at</source>
            <translation>梯度求和时机</translation>
        </message>
        <message>
            <source>window sums over ranks once an update, while gradients are still being computed; micro_step after each micro-batch.</source>
            <translation>window 每次更新求和一次，与梯度计算同时进行；micro_step 在每个微批之后。</translation>
        </message>
        <message>
            <source>Compare ranks every</source>
            <translation>进程比对间隔</translation>
        </message>
        <message>
            <source>How often ranks compare all of their state, which must be equal bit for bit.</source>
            <translation>各进程比对全部状态的频率，状态必须逐位相同。</translation>
        </message>
        <message>
            <source>Wait for a rank</source>
            <translation>等待进程</translation>
        </message>
        <message>
            <source>How long the others wait for a rank that does not get on before the run is ended.</source>
            <translation>某个进程没有进展时，其余进程在结束运行前等待的时间。</translation>
        </message>
        <message>
            <source>CPU threads for arithmetic of one rank.</source>
            <translation>一个进程用于运算的 CPU 线程。</translation>
        </message>
        <message>
            <source>ranks</source>
            <translation>个进程</translation>
        </message>
        <message>
            <source>one a physical core, shared out among the ranks</source>
            <translation>每个物理核心一个，由各进程分配</translation>
        </message>
        <message>
            <source>Command</source>
            <translation>命令</translation>
        </message>
        <message>
            <source>Working folder</source>
            <translation>工作文件夹</translation>
        </message>
        <message>
            <source>Guard</source>
            <translation>守护</translation>
        </message>
        <message>
            <source>What is done by itself when training goes wrong.</source>
            <translation>训练出问题时自动采取的措施。</translation>
        </message>
        <message>
            <source>Not finite</source>
            <translation>非有限值</translation>
        </message>
        <message>
            <source>When loss or gradient is not finite: the update is never applied; then go on, pause, go back to a checkpoint at a lower rate, or stop.</source>
            <translation>损失或梯度不是有限值时：该次更新绝不生效；然后继续、暂停、以更低的学习率回到检查点，或停止。</translation>
        </message>
        <message>
            <source>Loss spike</source>
            <translation>损失尖峰</translation>
        </message>
        <message>
            <source>When the loss of an update stands far above those before it; all but go_on leave the update out.</source>
            <translation>某次更新的损失远高于之前的更新时；除 go_on 外都会略去该次更新。</translation>
        </message>
        <message>
            <source>Spike from</source>
            <translation>尖峰起点</translation>
        </message>
        <message>
            <source>How many robust deviations (1.4826 times the median distance from the median) above the median make a spike.</source>
            <translation>高于中位数多少个稳健偏差（到中位数距离的中位数的 1.4826 倍）才算尖峰。</translation>
        </message>
        <message>
            <source>Gradient explosion</source>
            <translation>梯度爆炸</translation>
        </message>
        <message>
            <source>When the gradient norm before clipping is many times that of the updates before; all but go_on leave the update out.</source>
            <translation>裁剪前的梯度范数是之前更新的许多倍时；除 go_on 外都会略去该次更新。</translation>
        </message>
        <message>
            <source>Explosion from</source>
            <translation>爆炸起点</translation>
        </message>
        <message>
            <source>How many times the median norm make an explosion.</source>
            <translation>达到范数中位数的多少倍才算爆炸。</translation>
        </message>
        <message>
            <source>Judged by</source>
            <translation>判断依据</translation>
        </message>
        <message>
            <source>Applied updates that a spike or an explosion is judged by; nothing is judged before there are so many.</source>
            <translation>用来判断尖峰或爆炸的已生效更新数；不足此数时不作判断。</translation>
        </message>
        <message>
            <source>Out of memory</source>
            <translation>内存不足</translation>
        </message>
        <message>
            <source>When memory runs out in an update: stop with what would help, or halve the micro-batches for the rest of the run and begin the update again. The samples of an update stay the same; its numbers do but for rounding and BatchNorm, and depend on the room that the machine had.</source>
            <translation>更新中内存不足时：停止并说明可行的办法，或在本次运行余下部分把微批减半并重新开始该更新。每次更新的样本不变；除舍入和 BatchNorm 外数值也不变，但会取决于机器当时的可用内存。</translation>
        </message>
        <message>
            <source>Hang</source>
            <translation>停滞</translation>
        </message>
        <message>
            <source>When a rank gives no sign of life or does not get on it is named within seconds, with the stacks of all ranks; after parallel.wait_seconds all ranks are ended and the run goes on from its newest checkpoint (at most run.restarts_per_hour times, and not after a hang at the same update with the same stack), or it ends, or waits for as long as it takes.</source>
            <translation>某个进程没有响应或停滞不前时，会在数秒内指出它并记录所有进程的调用栈；超过 parallel.wait_seconds 后结束所有进程并从最新检查点继续（每小时至多 run.restarts_per_hour 次，若在同一更新处以相同调用栈再次停滞则不再继续），或结束运行，或一直等待。</translation>
        </message>
        <message>
            <source>Worse evaluation</source>
            <translation>评估变差</translation>
        </message>
        <message>
            <source>When an evaluation is worse than the best one so far: go on, pause, go back to the last good checkpoint at a lower rate, or stop.</source>
            <translation>评估比目前最佳的差时：继续、暂停、以更低的学习率回到最近的良好检查点，或停止。</translation>
        </message>
        <message>
            <source>Worse by</source>
            <translation>变差幅度</translation>
        </message>
        <message>
            <source>How far below the best an evaluation may be without counting as worse.</source>
            <translation>评估比最佳差多少以内不算变差。</translation>
        </message>
        <message>
            <source>Worse for</source>
            <translation>连续变差</translation>
        </message>
        <message>
            <source>Worse evaluations one after the other before something is done.</source>
            <translation>连续多少次评估变差后才采取措施。</translation>
        </message>
        <message>
            <source>Rate factor</source>
            <translation>学习率系数</translation>
        </message>
        <message>
            <source>What the learning rate is multiplied by each time the run goes back by itself.</source>
            <translation>运行每次自动回退时学习率乘以的系数。</translation>
        </message>
        <message>
            <source>Restarts an hour</source>
            <translation>每小时重启次数</translation>
        </message>
        <message>
            <source>How often in an hour a run goes on by itself after a worker crashed: from its last good checkpoint, or from the start where there was none yet; 0 never. A crash that is worth a restart is rare: more of them have a cause that a restart does not cure. The same crash at the same update is never tried again.</source>
            <translation>工作进程崩溃后，运行每小时最多自动继续多少次：从最后一个完好的检查点继续，尚无检查点时从头开始；0 表示从不。值得重启的崩溃很少见：次数更多时，其原因重启也无法消除。在同一次更新处出现的同样崩溃不会再次尝试。</translation>
        </message>
        <message>
            <source>Most roll-backs</source>
            <translation>最多回退次数</translation>
        </message>
        <message>
            <source>How often a run goes back by itself before it ends as diverged.</source>
            <translation>运行自动回退多少次后以发散结束。</translation>
        </message>
        <message>
            <source>Bytes in a row of text: as far as a model looks back.</source>
            <translation>一行文本的字节数：模型能回看的长度。</translation>
        </message>
        <message>
            <source>Channels of the first stage of a ResNet (64 is the published model), of every layer of a GPT.</source>
            <translation>ResNet 第一阶段的通道数（64 为公开发表的模型），或 GPT 每一层的通道数。</translation>
        </message>
        <message>
            <source>Context</source>
            <translation>上下文</translation>
        </message>
        <message>
            <source>Documents</source>
            <translation>文档</translation>
        </message>
        <message>
            <source>Feed-forward</source>
            <translation>前馈网络</translation>
        </message>
        <message>
            <source>Heads</source>
            <translation>注意力头</translation>
        </message>
        <message>
            <source>Layers</source>
            <translation>层数</translation>
        </message>
        <message>
            <source>Norm</source>
            <translation>归一化</translation>
        </message>
        <message>
            <source>Metrics</source>
            <translation>指标</translation>
        </message>
        <message>
            <source>Folder of class folders with JPEG or PNG images, a CSV file, an IDX image file, or a text file.</source>
            <translation>包含各类别文件夹（JPEG 或 PNG 图像）的文件夹、CSV 文件、IDX 图像文件或文本文件。</translation>
        </message>
        <message>
            <source>Heads of attention; each has width / heads channels, an even number.</source>
            <translation>注意力头的数量；每个头有 宽度/头数 个通道，须为偶数。</translation>
        </message>
        <message>
            <source>How freely that text is written: 0 takes the likeliest byte each time, 1 draws as the model foretells.</source>
            <translation>文本生成的自由程度：0 每次取最可能的字节，1 按模型的预测抽取。</translation>
        </message>
        <message>
            <source>However the run ends, writes the weights of its best evaluation to the run's export folder, ready for use. The run goes on from its newest checkpoint all the same.</source>
            <translation>无论运行如何结束，都把最佳评估的权重写入运行的导出文件夹，可直接使用。继续运行时仍从最新检查点开始。</translation>
        </message>
        <message>
            <source>Layers of attention and feed-forward network.</source>
            <translation>注意力与前馈网络的层数。</translation>
        </message>
        <message>
            <source>Leave the best weights</source>
            <translation>保留最佳权重</translation>
        </message>
        <message>
            <source>Length of the text that the model writes at each evaluation, to be read beside the curves.</source>
            <translation>每次评估时模型所写文本的长度，可与曲线一同查看。</translation>
        </message>
        <message>
            <source>Random part of the training data (of a text its end) kept for evaluation when no evaluation data is given.</source>
            <translation>未给出评估数据时，从训练数据中随机留出（文本则留出末尾）用于评估的部分。</translation>
        </message>
        <message>
            <source>Reads and foretells bytes by the same table of weights.</source>
            <translation>读入和预测字节使用同一张权重表。</translation>
        </message>
        <message>
            <source>Sample prompt</source>
            <translation>样本提示</translation>
        </message>
        <message>
            <source>Sample text</source>
            <translation>样本文本</translation>
        </message>
        <message>
            <source>Temperature</source>
            <translation>温度</translation>
        </message>
        <message>
            <source>Tie embeddings</source>
            <translation>共享嵌入</translation>
        </message>
        <message>
            <source>Samples in a micro-batch; of a text, rows.</source>
            <translation>一个微批次中的样本数；文本则为行数。</translation>
        </message>
        <message>
            <source>What an evaluation measures beside the loss; empty takes the usual ones of the task. Classification has top3_accuracy, top5_accuracy, precision, recall and f1 (of the second of two classes; or with _micro, _macro over all) and auc.</source>
            <translation>评估在损失之外测量的内容；留空则取任务的常用指标。分类任务有 top3_accuracy、top5_accuracy，precision、recall 和 f1（两类中的第二类；或加 _micro、_macro 表示所有类别）以及 auc。</translation>
        </message>
        <message>
            <source>What is one document of a text: the whole file, what stands between empty lines, or each line. None is learned from another.</source>
            <translation>文本中什么算一个文档：整个文件、空行之间的内容，或每一行。文档之间互不可见。</translation>
        </message>
        <message>
            <source>What stands before attention and feed-forward network.</source>
            <translation>注意力和前馈网络之前的归一化。</translation>
        </message>
        <message>
            <source>What that text goes on from; empty begins a line.</source>
            <translation>该文本从何处续写；留空则从新的一行开始。</translation>
        </message>
        <message>
            <source>bytes</source>
            <translation>字节</translation>
        </message>
        <message>
            <source>heads</source>
            <translation>头</translation>
        </message>
        <message>
            <source>layers</source>
            <translation>层</translation>
        </message>
        <message>
            <source>classification predicts one of several classes, regression predicts numbers, language foretells the next byte of a text.</source>
            <translation>classification 预测若干类别之一，regression 预测数值，language 预测文本的下一个字节。</translation>
        </message>
        <message>
            <source>swiglu gates 8/3 of the width, gelu has 4 times the width.</source>
            <translation>swiglu 以门控方式使用 8/3 倍宽度，gelu 使用 4 倍宽度。</translation>
        </message>
        <message>
            <source>Plug-ins</source>
            <translation>插件</translation>
        </message>
        <message>
            <source>Libraries of your own.</source>
            <translation>您自己的库。</translation>
        </message>
        <message>
            <source>Libraries of your own that training loads from your plug-in folder, in this order, and their settings (name.key=value); in a file each stands under its name.</source>
            <translation>训练时从您的插件文件夹按此顺序加载的您自己的库，以及它们的设置（name.key=value）；在文件中各自写在其名称之下。</translation>
        </message>
        <message>
            <source>Falls</source>
            <translation>下降次数</translation>
        </message>
        <message>
            <source>How many times the rate falls over the length; it starts again from the peak in between.</source>
            <translation>学习率在全程中下降的次数；其间每次从峰值重新开始。</translation>
        </message>
        <message>
            <source>Growth of falls</source>
            <translation>下降增长</translation>
        </message>
        <message>
            <source>Each fall takes so many times as long as the one before.</source>
            <translation>每次下降所用时间是前一次的若干倍。</translation>
        </message>
        <message>
            <source>Power</source>
            <translation>幂</translation>
        </message>
        <message>
            <source>1 falls in a straight line; larger ones fall early.</source>
            <translation>1 为直线下降；更大的值下降得更早。</translation>
        </message>
        <message>
            <source>Decay factor</source>
            <translation>衰减系数</translation>
        </message>
        <message>
            <source>What the rate is multiplied by after each decay_updates (step, exponential), or when evaluations get no better (plateau).</source>
            <translation>每经过 decay_updates 次更新（step、exponential）或评估不再变好时（plateau），学习率所乘的系数。</translation>
        </message>
        <message>
            <source>Decay after</source>
            <translation>衰减间隔</translation>
        </message>
        <message>
            <source>Updates in which the decay factor takes effect once: at their end (step), or bit by bit (exponential).</source>
            <translation>衰减系数生效一次所需的更新次数：在末尾一次生效（step）或逐步生效（exponential）。</translation>
        </message>
        <message>
            <source>Rising part</source>
            <translation>上升部分</translation>
        </message>
        <message>
            <source>Part of the curve in which the rate rises to its peak.</source>
            <translation>曲线中学习率升到峰值的部分。</translation>
        </message>
        <message>
            <source>Start factor</source>
            <translation>起始比例</translation>
        </message>
        <message>
            <source>Rate at the beginning of the curve as a part of the peak.</source>
            <translation>曲线起点的学习率占峰值的比例。</translation>
        </message>
        <message>
            <source>Falling part</source>
            <translation>下降部分</translation>
        </message>
        <message>
            <source>Part of the curve, at its end, in which the rate falls.</source>
            <translation>曲线末尾学习率下降的部分。</translation>
        </message>
        <message>
            <source>Falls as</source>
            <translation>下降形状</translation>
        </message>
        <message>
            <source>linear falls in a straight line, cosine slowly at both ends, sqrt fast at first.</source>
            <translation>linear 为直线下降，cosine 两端较慢，sqrt 起初较快。</translation>
        </message>
        <message>
            <source>Bears</source>
            <translation>容忍次数</translation>
        </message>
        <message>
            <source>Evaluations without a better one that are borne; the next one cuts the rate. What is better is said by evaluation.best_metric and evaluation.min_delta.</source>
            <translation>可容忍的未变好的评估次数；再有一次便降低学习率。何为更好由 evaluation.best_metric 和 evaluation.min_delta 决定。</translation>
        </message>
        <message>
            <source>Rests</source>
            <translation>冷却次数</translation>
        </message>
        <message>
            <source>Evaluations after a cut that are not counted.</source>
            <translation>降低之后不计入的评估次数。</translation>
        </message>
        <message>
            <source>Updates over which the rate rises to the beginning of the curve.</source>
            <translation>学习率升到曲线起点所用的更新次数。</translation>
        </message>
        <message>
            <source>Rate at the end as a part of the peak; step, exponential and plateau never go below it.</source>
            <translation>终点学习率占峰值的比例；step、exponential 和 plateau 不会低于它。</translation>
        </message>
        <message>
            <source>Pulls weights towards zero; apart from the gradient in adamw and lion, as a part of it in adam and sgd.</source>
            <translation>将权重拉向零；在 adamw 和 lion 中独立于梯度，在 adam 和 sgd 中作为梯度的一部分。</translation>
        </message>
        <message>
            <source>Decay on</source>
            <translation>衰减对象</translation>
        </message>
        <message>
            <source>weights leaves out biases and the scales of norms (tensors of fewer than two dimensions); all takes every parameter.</source>
            <translation>weights 不含偏置和归一化的缩放（少于两维的张量）；all 包括所有参数。</translation>
        </message>
        <message>
            <source>Memory of the squared gradient; in lion, of the mean gradient between steps.</source>
            <translation>对梯度平方的记忆；在 lion 中为步间平均梯度的记忆。</translation>
        </message>
        <message>
            <source>0.999, lion 0.99</source>
            <translation>0.999，lion 为 0.99</translation>
        </message>
        <message>
            <source>Dampening</source>
            <translation>阻尼</translation>
        </message>
        <message>
            <source>Part of the new gradient that the momentum leaves out.</source>
            <translation>动量不计入的新梯度部分。</translation>
        </message>
        <message>
            <source>Layer-wise rates</source>
            <translation>逐层学习率</translation>
        </message>
        <message>
            <source>The rate of each block of the model is so much less than that of the block after it; 1 treats all alike.</source>
            <translation>模型每个块的学习率按此比例低于其后一块；1 表示全部相同。</translation>
        </message>
        <message>
            <source>Groups</source>
            <translation>参数组</translation>
        </message>
        <message>
            <source>Parameters whose names fit a pattern (* any text, ? one character) with an lr_factor on the learning rate or a weight_decay of their own; the first pattern that fits counts.</source>
            <translation>名称符合模式（* 任意文本，? 一个字符）的参数使用各自的学习率系数 lr_factor 或 weight_decay；以第一个符合的模式为准。</translation>
        </message>
        <message>
            <source>Freeze</source>
            <translation>冻结</translation>
        </message>
        <message>
            <source>Patterns of parameters that stay as they are: no gradient, no optimizer state.</source>
            <translation>保持不变的参数的模式：没有梯度，也没有优化器状态。</translation>
        </message>
        <message>
            <source>Clipping by value</source>
            <translation>按值裁剪</translation>
        </message>
        <message>
            <source>Largest size of each single number of the gradient; in place of clipping by the norm.</source>
            <translation>梯度每个数值的最大绝对值；代替按范数裁剪。</translation>
        </message>
        <message>
            <source>no clipping by value</source>
            <translation>不按值裁剪</translation>
        </message>
        <message>
            <source>Mean of the weights</source>
            <translation>权重均值</translation>
        </message>
        <message>
            <source>Keeps a running mean (EMA) of the weights beside those that are trained; evaluation.weights says whether it is evaluated.</source>
            <translation>在训练的权重之外保留其滑动均值（EMA）；是否用于评估由 evaluation.weights 决定。</translation>
        </message>
        <message>
            <source>Mean keeps</source>
            <translation>均值保留</translation>
        </message>
        <message>
            <source>Part of the mean that each update keeps.</source>
            <translation>每次更新所保留的均值部分。</translation>
        </message>
        <message>
            <source>Mean warms up</source>
            <translation>均值预热</translation>
        </message>
        <message>
            <source>Keeps less at first, (1 + n) / (10 + n) after n updates, so that the first weights are soon forgotten.</source>
            <translation>起初保留较少，n 次更新后为 (1 + n) / (10 + n)，使最初的权重很快被遗忘。</translation>
        </message>
        <message>
            <source>Weights</source>
            <translation>权重</translation>
        </message>
        <message>
            <source>Which weights are evaluated, and exported unless asked otherwise: those that are trained, or their running mean.</source>
            <translation>评估哪些权重，未另行要求时也导出它们：训练的权重，或其滑动均值。</translation>
        </message>
        <message>
            <source>Norms of groups every</source>
            <translation>各组范数间隔</translation>
        </message>
        <message>
            <source>How often the gradient norm of each group of parameters is recorded, before clipping.</source>
            <translation>多久记录一次各参数组裁剪前的梯度范数。</translation>
        </message>
        <message>
            <source>Histograms every</source>
            <translation>直方图间隔</translation>
        </message>
        <message>
            <source>How often histograms of gradients (before clipping) and weights are recorded, one for each parameter.</source>
            <translation>多久记录一次梯度（裁剪前）和权重的直方图，每个参数一个。</translation>
        </message>
    </context>
</TS>
